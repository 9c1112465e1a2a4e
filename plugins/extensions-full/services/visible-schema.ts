import { type Caller, fail } from '#kernel';
import type { Collection, CollectionRecord, FieldRecord, Relation, RelationRecord } from '../../schema/contract.ts';
import { toCollectionRecord, toReadableFieldRecord, toRelationRecord } from '../../schema/library.ts';
import type { ExtensionRuntime } from '../extension-runtime.ts';

type Registry = 'platform_collections' | 'platform_fields' | 'platform_relations';

/** The part of the schema that a caller may read: all of it for admins, else readable collections and fields. */
export interface VisibleSchemaReader {
  collections(caller: Caller): Promise<CollectionRecord[]>;
  fields(caller: Caller, collection?: string): Promise<FieldRecord[]>;
  relations(caller: Caller, collection?: string): Promise<RelationRecord[]>;
}

export function createVisibleSchemaReader({ deps }: Pick<ExtensionRuntime, 'deps'>): VisibleSchemaReader {
  const { access, schema } = deps;

  /**
   * Visible collections with their readable fields (null for all).
   * @throws FORBIDDEN if the caller may not read the registry.
   */
  async function readable(caller: Caller, registry: Registry) {
    const snapshot = await schema.refresh();
    if (!caller.admin && !(await access.isAllowed(caller, 'read', registry)))
      throw fail('FORBIDDEN', `no permission to read ${registry}`);
    const shown = new Map<Collection, ReadonlySet<string> | null>();
    for (const one of snapshot.collections.values()) {
      if (caller.admin) shown.set(one, null);
      else if (one.kind !== 'folder' && (await access.isAllowed(caller, 'read', one.name)))
        shown.set(one, await access.readableFields(one, caller));
    }
    return { snapshot, shown };
  }

  return {
    async collections(caller) {
      const { shown } = await readable(caller, 'platform_collections');
      return [...shown.keys()].map(toCollectionRecord);
    },
    async fields(caller, collection) {
      const { snapshot, shown } = await readable(caller, 'platform_fields');
      const names = new Set([...shown.keys()].map(({ name }) => name));
      return [...shown]
        .filter(([{ name }]) => collection === undefined || name === collection)
        .flatMap(([{ fields }, own]) => [...fields.values()].filter(({ name }) => own === null || own.has(name)))
        .map((field) => toReadableFieldRecord(field, snapshot, (name) => names.has(name)));
    },
    async relations(caller, collection) {
      const { snapshot, shown } = await readable(caller, 'platform_relations');
      const names = new Map([...shown].map(([{ name }, fields]) => [name, fields]));
      return snapshot.relations
        .filter((one) => (collection === undefined || one.collection === collection) && isVisible(one, names))
        .map(toRelationRecord);
    },
  };
}

/** Both ends of a relation must be visible. */
function isVisible(
  { collection, field, related, meta }: Relation,
  names: ReadonlyMap<string, ReadonlySet<string> | null>,
) {
  const has = (name: string, one: string | null) =>
    names.has(name) && (one === null || (names.get(name)?.has(one) ?? true));
  const others = related === null ? (meta?.one_allowed_collections ?? []) : [related];
  return (
    has(collection, field) && others.every((name) => has(name, related === null ? null : (meta?.one_field ?? null)))
  );
}

import { type Caller, fail } from '#kernel';
import type { Collection, CollectionRecord, FieldRecord, Relation, RelationRecord } from '../../schema/contract.ts';
import { collectionRecord, fieldRecord, relationRecord } from '../../schema/library.ts';
import type { ExtensionRuntime } from '../kit.ts';

type Registry = 'platform_collections' | 'platform_fields' | 'platform_relations';

/** What a caller may know of the tables: all of it, or the collections and fields he may read. */
export interface VisibleSchema {
  collections(caller: Caller): Promise<CollectionRecord[]>;
  fields(caller: Caller, collection?: string): Promise<FieldRecord[]>;
  relations(caller: Caller, collection?: string): Promise<RelationRecord[]>;
}

export function createVisibleSchema({ deps }: Pick<ExtensionRuntime, 'deps'>): VisibleSchema {
  const { access, schema } = deps;

  /** Fields by collection, as far as they may be known; FORBIDDEN for those who may not read the registry at all. */
  async function readable(caller: Caller, registry: Registry) {
    const overview = await schema.refresh();
    if (!caller.admin && !(await access.may(caller, 'read', registry)))
      throw fail('FORBIDDEN', `no permission to read ${registry}`);
    const shown = new Map<Collection, ReadonlySet<string> | null>();
    for (const one of overview.collections.values()) {
      if (caller.admin) shown.set(one, null);
      else if (one.kind !== 'folder' && (await access.may(caller, 'read', one.name)))
        shown.set(one, await access.readableFields(one, caller));
    }
    return { overview, shown };
  }

  return {
    async collections(caller) {
      const { shown } = await readable(caller, 'platform_collections');
      return [...shown.keys()].map(collectionRecord);
    },
    async fields(caller, collection) {
      const { overview, shown } = await readable(caller, 'platform_fields');
      return [...shown]
        .filter(([{ name }]) => collection === undefined || name === collection)
        .flatMap(([{ fields }, names]) => [...fields.values()].filter(({ name }) => names === null || names.has(name)))
        .map((field) => fieldRecord(field, overview));
    },
    async relations(caller, collection) {
      const { overview, shown } = await readable(caller, 'platform_relations');
      const names = new Map([...shown].map(([{ name }, fields]) => [name, fields]));
      return overview.relations
        .filter((one) => (collection === undefined || one.collection === collection) && isVisible(one, names))
        .map(relationRecord);
    },
  };
}

/** Both ends have to be known. */
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

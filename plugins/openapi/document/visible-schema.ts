import type { AccessControl, PermissionAction, PermissionSet } from '../../access/contract.ts';
import type { Collection, Field, ItemVerb, SchemaOverview } from '../../schema/contract.ts';

/** A field that callers with one set of permissions may read. */
export interface VisibleField {
  readonly field: Field;
  /** On all rows that the caller may read; else it is null on some. */
  readonly isAlwaysReadable: boolean;
}

/** A collection that callers with one set of permissions may read. */
export interface VisibleCollection {
  readonly collection: Collection;
  readonly note: string | null;
  readonly readable: readonly VisibleField[];
  /** Fields that a create or an update may set. */
  readonly writable: readonly Field[];
  /** What the caller may do with rows; always with `read`. */
  readonly actions: ReadonlySet<ItemVerb>;
}

/** The readable collections, by name. */
export interface VisibleSchema {
  readonly snapshot: SchemaOverview;
  readonly collections: ReadonlyMap<string, VisibleCollection>;
}

const WRITES = ['create', 'update', 'delete'] as const;

/** The collections and fields that callers with these permissions see in the document. */
export function buildVisibleSchema(
  snapshot: SchemaOverview,
  permissions: PermissionSet,
  permittedFields: AccessControl['permittedFields'],
): VisibleSchema {
  const readable = [...snapshot.collections.values()].filter(
    (one) => one.kind !== 'folder' && isAllowed(permissions, 'read', one),
  );
  const names = new Set(readable.map(({ name }) => name));
  const isVisible = ({ relation }: Field) => relation?.kind !== 'many' || names.has(relation.to);
  const collections = readable.map((collection): VisibleCollection => {
    const fields = (action: PermissionAction) =>
      [...permittedFields(permissions, action, collection)].flatMap(([name, availability]) => {
        const field = collection.fields.get(name);
        return field && isVisible(field) ? [{ field, availability }] : [];
      });
    const actions = new Set<ItemVerb>(['read', ...WRITES.filter((verb) => isAllowed(permissions, verb, collection))]);
    const writable = new Set(
      (['create', 'update'] as const)
        .filter((verb) => actions.has(verb))
        .flatMap((verb) => fields(verb).map(({ field }) => field))
        .filter(({ column }) => !column?.generated && !column?.identityAlways),
    );
    return {
      collection,
      note: collection.meta?.note ?? null,
      readable: fields('read').map(({ field, availability }) => ({
        field,
        isAlwaysReadable: availability === 'always' && !collection.singleton,
      })),
      writable: [...writable],
      actions,
    };
  });
  return { snapshot, collections: new Map(collections.map((one) => [one.collection.name, one])) };
}

/** Which writes a system collection has is said by its routes alone: files have a create of their own. */
const isAllowed = (permissions: PermissionSet, verb: ItemVerb, { name, kind, verbs }: Collection): boolean =>
  (verb === 'read' ? (verbs?.includes(verb) ?? true) : kind === 'table') &&
  (permissions.admin || permissions.of(name, verb).length > 0);

import type { AccessControl, PermissionAction, PermissionSet } from '../../access/contract.ts';
import type { Collection, Field, ItemVerb } from '../../schema/contract.ts';
import type { GraphqlCollectionNames, GraphqlSchemaNames } from './schema-names.ts';

/** A permitted field, in all rows or in some. */
export interface GrantedField {
  readonly field: Field;
  readonly availability: 'always' | 'some';
}

/** The collections and fields that callers with one set of permissions may use. */
export interface PermittedSchemaModel {
  readonly names: GraphqlSchemaNames;
  readonly permissions: PermissionSet;
  /** Readable fields by collection. Collections without readable fields are not in it. */
  readonly readable: ReadonlyMap<string, readonly GrantedField[]>;
  /** Whether the caller may write rows of a collection by this verb. */
  isAllowed(verb: Exclude<ItemVerb, 'read'>, collection: string): boolean;
  /** The fields that a write may set; empty without a permission. */
  writableFields(verb: 'create' | 'update', collection: string): readonly GrantedField[];
}

export function createPermittedSchemaModel(
  names: GraphqlSchemaNames,
  permissions: PermissionSet,
  permittedFields: AccessControl['permittedFields'],
): PermittedSchemaModel {
  const may = (verb: ItemVerb, { collection }: GraphqlCollectionNames): boolean =>
    (collection.verbs?.includes(verb) ?? true) &&
    (verb === 'read' || collection.kind === 'table') &&
    (permissions.admin || permissions.of(collection.name, verb).length > 0);

  const grantedFields = (
    action: PermissionAction,
    { collection, fields }: GraphqlCollectionNames,
  ): readonly GrantedField[] => {
    const availability = permittedFields(permissions, action, collection);
    return fields.flatMap((field) => {
      const fieldAvailability = availability.get(field.name);
      return fieldAvailability ? [{ field, availability: fieldAvailability }] : [];
    });
  };

  const writableCache = new Map<string, readonly GrantedField[]>();
  return {
    names,
    permissions,
    readable: findReadable(names, may, grantedFields),
    isAllowed(verb, name) {
      const named = names.collections.get(name);
      return named !== undefined && may(verb, named);
    },
    writableFields(verb, name) {
      const key = `${verb} ${name}`;
      const named = names.collections.get(name);
      const found =
        writableCache.get(key) ??
        (named && may(verb, named) ? grantedFields(verb, named).filter(isWritableColumn) : []);
      writableCache.set(key, found);
      return found;
    },
  };
}

/** Whether the database does not generate the value itself. */
const isWritableColumn = ({ field: { column } }: GrantedField): boolean =>
  !column?.generated && !column?.identityAlways;

/**
 * Readable fields by collection, without to-many fields that lead to unreadable collections. A collection that has no
 * fields left is unreadable as well.
 */
function findReadable(
  names: GraphqlSchemaNames,
  may: (verb: ItemVerb, named: GraphqlCollectionNames) => boolean,
  granted: (action: PermissionAction, named: GraphqlCollectionNames) => readonly GrantedField[],
): PermittedSchemaModel['readable'] {
  const readable = new Map<string, readonly GrantedField[]>();
  for (const [name, named] of names.collections) if (may('read', named)) readable.set(name, granted('read', named));
  const leadsToReadable = ({ field }: GrantedField) =>
    field.relation?.kind !== 'many' || readable.has(field.relation.to);
  for (let changed = true; changed; ) {
    changed = false;
    for (const [name, fields] of readable) {
      const remaining = fields.filter(leadsToReadable);
      if (remaining.length === fields.length && remaining.length > 0) continue;
      changed = true;
      if (remaining.length > 0) readable.set(name, remaining);
      else readable.delete(name);
    }
  }
  return readable;
}

/** The readable collections of a many-to-any; none without a column that names the collection. */
export function manyToAnyTargets(model: PermittedSchemaModel, collection: Collection, field: Field): readonly string[] {
  const { relation } = field;
  if (relation?.kind !== 'any' || !collection.fields.get(relation.collectionField)?.column) return [];
  return relation.allowedCollections.filter(
    (name) => model.readable.has(name) && model.names.collections.get(name)?.collection.hasKey,
  );
}

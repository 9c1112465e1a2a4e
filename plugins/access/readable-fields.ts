import type { Caller } from '#kernel';
import type { FieldVisibility } from '../query/contract.ts';
import type { Collection } from '../schema/contract.ts';
import type { PermissionSet } from './contract.ts';
import { permissionListsField } from './restrict/row-rules.ts';

/** Names of the fields that the caller may read on at least some rows. */
export function readableFieldNames(set: PermissionSet, collection: Collection): ReadonlySet<string> {
  const rows = set.of(collection.name, 'read');
  const fields = [...collection.fields.values()];
  return new Set(
    fields
      .filter((field) => set.admin || rows.some((one) => permissionListsField(one, field.name, field)))
      .map(({ name }) => name),
  );
}

/**
 * A name that is no field counts as visible when the field lists have it or `*`, so that only callers who may read all fields
 * learn that the field does not exist.
 */
export const createFieldVisibility =
  (set: PermissionSet): FieldVisibility =>
  (collection, name) =>
    set.admin ||
    set.of(collection.name, 'read').some((one) => permissionListsField(one, name, collection.fields.get(name)));

export const createReadableFieldNamesLookup =
  (permissions: (caller: Caller) => Promise<PermissionSet>) =>
  async (collection: Collection, caller: Caller): Promise<ReadonlySet<string>> =>
    readableFieldNames(await permissions(caller), collection);

import type { Caller } from '#kernel';
import { quoteIdentifier } from '../../database/library.ts';
import type { Field, SchemaOverview } from '../contract.ts';
import { createInvalidPayloadFailure } from './payload.ts';
import { deleteMatchingRegistryRows, updateRegistryRows } from './registry-row.ts';
import {
  isSystemField,
  quoteTable,
  requireCollection,
  requireField,
  type SchemaWriteDeps,
} from './write-deps-and-guards.ts';

/** Deletes a field on request. Refuses system fields, primary keys, composite foreign keys and columns of views. */
export async function deleteField(
  deps: SchemaWriteDeps,
  caller: Caller,
  collection: string,
  name: string,
): Promise<void> {
  const holder = requireCollection(await deps.cache.snapshot(), collection);
  const field = requireField(holder, name);
  if (isSystemField(field))
    throw createInvalidPayloadFailure(`Field "${name}" belongs to the service and cannot be deleted.`);
  if (field.column?.primary)
    throw createInvalidPayloadFailure(`Field "${name}" is the primary key and cannot be deleted.`);
  if (field.parts) throw createInvalidPayloadFailure(`Field "${name}" is a foreign key: delete the relation instead.`);
  if (field.column && holder.kind === 'view')
    throw createInvalidPayloadFailure(`"${collection}" is a view of the database and is changed there.`);
  await deleteFieldIfExists(deps, caller, collection, name);
}

/** Deletes a field with its column, its relations and references to its name; does nothing where the field does not exist. */
export async function deleteFieldIfExists(
  deps: SchemaWriteDeps,
  caller: Caller,
  collection: string,
  name: string,
): Promise<void> {
  const snapshot = await deps.cache.snapshot();
  const holder = snapshot.collections.get(collection);
  const field = holder?.fields.get(name);
  if (!holder || !field || isSystemField(field)) return;
  const context = { caller, collection, keys: [name] };
  await deps.events.filter(['fields.delete'], [name], context);
  await deleteRelations(deps, caller, snapshot, field);
  if (field.column) await deps.db.ddl(`alter table ${quoteTable(holder)} drop column ${quoteIdentifier(name)}`);
  await clearReferences(deps, snapshot, field);
  await deleteMatchingRegistryRows(deps, 'fields', { collection, field: name });
  deps.events.action(['fields.delete'], { ...context, payload: [name] });
}

async function deleteRelations(
  deps: SchemaWriteDeps,
  caller: Caller,
  snapshot: SchemaOverview,
  { collection, name }: Field,
): Promise<void> {
  for (const { collection: holder, field, meta } of snapshot.relations) {
    const parts = snapshot.collections.get(holder)?.fields.get(field)?.parts;
    const isNamed = field === name || meta?.one_collection_field === name || parts?.some((part) => part.name === name);
    const isAffected = holder === collection && isNamed;
    if (!isAffected) continue;
    await deleteMatchingRegistryRows(deps, 'relations', { many_collection: holder, many_field: field });
    // The alias on the other side has no relation any more.
    if (meta?.one_collection && meta.one_field)
      await deleteFieldIfExists(deps, caller, meta.one_collection, meta.one_field);
  }
  await updateRegistryRows(deps, 'relations', { one_field: null }, { one_collection: collection, one_field: name });
  await updateRegistryRows(
    deps,
    'relations',
    { junction_field: null },
    { many_collection: collection, junction_field: name },
  );
  await updateRegistryRows(deps, 'relations', { sort_field: null }, { many_collection: collection, sort_field: name });
}

async function clearReferences(
  deps: SchemaWriteDeps,
  snapshot: SchemaOverview,
  { collection, name, meta }: Field,
): Promise<void> {
  await updateRegistryRows(deps, 'fields', { group: meta?.group ?? null }, { collection, group: name });
  await updateRegistryRows(deps, 'collections', { sort_field: null }, { collection, sort_field: name });
  await updateRegistryRows(
    deps,
    'collections',
    { archive_field: null, archive_value: null, unarchive_value: null },
    { collection, archive_field: name },
  );
  const duplicated = snapshot.collections.get(collection)?.meta?.item_duplication_fields;
  if (!Array.isArray(duplicated)) return;
  const remaining = duplicated.filter((path) => path !== name && !String(path).startsWith(`${name}.`));
  if (remaining.length < duplicated.length) {
    await updateRegistryRows(
      deps,
      'collections',
      { item_duplication_fields: JSON.stringify(remaining) },
      { collection },
    );
  }
}

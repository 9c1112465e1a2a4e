import type { Caller } from '#kernel';
import { quoteIdentifier } from '../../database/library.ts';
import type { Collection } from '../contract.ts';
import { deleteFieldIfExists } from './delete-field.ts';
import { createCollectionEventMeta } from './events.ts';
import { createInvalidPayloadFailure } from './payload.ts';
import { deleteMatchingRegistryRows, updateRegistryRows } from './registry-row.ts';
import {
  isSystemField,
  quoteRegistryTable,
  quoteTable,
  requireCollection,
  type SchemaWriteDeps,
} from './write-deps-and-guards.ts';

/** Drops a table, its registry rows, and the fields of other collections that refer to it. */
export async function deleteCollection(deps: SchemaWriteDeps, caller: Caller, name: string): Promise<void> {
  const snapshot = await deps.cache.snapshot();
  const collection = requireCollection(snapshot, name);
  if (collection.system) throw createInvalidPayloadFailure(`"${name}" belongs to the service and cannot be deleted.`);
  if (collection.kind === 'view')
    throw createInvalidPayloadFailure(
      `"${name}" is a view of the database and is changed there; "meta": null deletes its registry row.`,
    );
  const context = createCollectionEventMeta(caller, name);
  await deps.events.filter(['collections.delete'], [name], context);

  if (collection.table) await dropConstraintsTo(deps, collection);
  for (const relation of snapshot.relations) {
    if (relation.related !== name || relation.collection === name) continue;
    const field = snapshot.collections.get(relation.collection)?.fields.get(relation.field);
    if (!field || isSystemField(field)) continue;
    // A primary key that is also a foreign key stays: its table needs it.
    if (field.column?.primary || snapshot.collections.get(relation.collection)?.kind === 'view') {
      await deleteMatchingRegistryRows(deps, 'relations', {
        many_collection: relation.collection,
        many_field: relation.field,
      });
    } else await deleteFieldIfExists(deps, caller, relation.collection, relation.field);
  }
  for (const { collection: holder, meta } of snapshot.relations) {
    if (holder === name && meta?.one_collection && meta.one_field && meta.one_collection !== name) {
      await deleteFieldIfExists(deps, caller, meta.one_collection, meta.one_field);
    }
  }
  if (collection.table) await deps.db.ddl(`drop table ${quoteTable(collection)}`);
  await deleteRegistryRows(deps, name);
  deps.events.action(['collections.delete'], { ...context, payload: [name] });
}

/** Drops the foreign keys of other tables to this one, also of tables that are not served. */
async function dropConstraintsTo({ db }: SchemaWriteDeps, collection: Collection): Promise<void> {
  const { rows } = await db.query<{ schema: string; table: string; name: string }>(
    `select n.nspname as schema, c.relname as table, k.conname as name
    from pg_constraint k join pg_class c on c.oid = k.conrelid join pg_namespace n on n.oid = c.relnamespace
    where k.contype = 'f' and k.conparentid = 0 and k.confrelid = to_regclass($1) and k.conrelid <> k.confrelid`,
    [quoteTable(collection)],
  );
  for (const { schema, table, name } of rows) {
    await db.ddl(
      `alter table ${quoteIdentifier(schema)}.${quoteIdentifier(table)} drop constraint if exists ${quoteIdentifier(name)}`,
    );
  }
}

async function deleteRegistryRows(deps: SchemaWriteDeps, name: string): Promise<void> {
  await deleteMatchingRegistryRows(deps, 'fields', { collection: name });
  await deleteMatchingRegistryRows(deps, 'relations', { many_collection: name });
  await deleteMatchingRegistryRows(deps, 'relations', { one_collection: name });
  await deps.db.query(
    `update ${quoteRegistryTable(deps, 'relations')}
    set one_allowed_collections = array_to_string(array_remove(string_to_array(one_allowed_collections, ','), $1), ',')
    where $1 = any(string_to_array(one_allowed_collections, ','))`,
    [name],
  );
  await updateRegistryRows(deps, 'collections', { group: null }, { group: name });
  await deleteMatchingRegistryRows(deps, 'collections', { collection: name });
}

import type { Caller } from '#kernel';
import type { Collection } from '../contract.ts';
import { createColumnIndexes, isNewPrimaryKeyField, renderNewColumn } from './column-ddl.ts';
import { emitSchemaChangeAction, runSchemaChangeFilters } from './events.ts';
import { type NewField, parseNewField } from './field-input.ts';
import { createInvalidPayloadFailure } from './payload.ts';
import { upsertRegistryRow } from './registry-row.ts';
import { quoteRegistryTable, quoteTable, requireCollection, type SchemaWriteDeps } from './write-deps-and-guards.ts';

/** Adds a column or an alias, and its registry row. */
export async function createField(
  deps: SchemaWriteDeps,
  caller: Caller,
  collection: string,
  input: unknown,
): Promise<string> {
  const holder = requireCollection(await deps.cache.snapshot(), collection);
  const payload = await runSchemaChangeFilters(deps, 'fields', 'create', input, { caller, collection });
  const field = parseNewField(payload, deps.exact === true);
  if (holder.fields.has(field.name))
    throw createInvalidPayloadFailure(`Field "${field.name}" already exists in collection "${collection}".`);
  if (field.type !== 'alias') await addColumn(deps, holder, field);
  if (field.row) {
    const sort =
      deps.exact && field.row.sort === null
        ? null
        : (field.row.sort ?? (await nextSort(deps, collection, field.row.group ?? null)));
    await upsertRegistryRow(deps, 'fields', { collection, field: field.name }, { ...field.row, sort });
  }
  emitSchemaChangeAction(deps, 'fields', 'create', payload, {
    caller,
    key: field.name,
    collection,
    keys: [field.name],
  });
  return field.name;
}

async function addColumn({ db }: SchemaWriteDeps, collection: Collection, field: NewField): Promise<void> {
  if (collection.kind === 'view')
    throw createInvalidPayloadFailure(`"${collection.name}" is a view of the database and is changed there.`);
  if (isNewPrimaryKeyField(field))
    throw createInvalidPayloadFailure('A primary key is set when a collection is created.');
  const table = quoteTable(collection);
  await db.ddl(`alter table ${table} add column ${await renderNewColumn(db, field)}`);
  await createColumnIndexes(db, table, collection.table?.name ?? collection.name, field);
}

/** The value of `sort` that places a new field after the last field of its group. */
async function nextSort(deps: SchemaWriteDeps, collection: string, group: unknown): Promise<number> {
  const { rows } = await deps.db.query<{ next: number }>(
    `select coalesce(max(sort), 0) + 1 as next from ${quoteRegistryTable(deps, 'fields')}
    where collection = $1 and "group" is not distinct from $2`,
    [collection, group],
  );
  return rows[0]?.next ?? 1;
}

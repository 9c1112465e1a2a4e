import type { Caller } from '#kernel';
import type { Collection } from '../contract.ts';
import { isKey, newColumn, newColumnIndexes } from './column-ddl.ts';
import { knownCollection, registryTable, tableOf, type WriteDeps } from './deps.ts';
import { announce, filtered } from './events.ts';
import { type NewField, newField } from './field-input.ts';
import { invalid } from './payload.ts';
import { upsertRow } from './registry-row.ts';

/** Adds a column or an alias, and registers it. */
export async function createField(
  deps: WriteDeps,
  caller: Caller,
  collection: string,
  input: unknown,
): Promise<string> {
  const known = knownCollection(await deps.keeper.overview(), collection);
  const payload = await filtered(deps, 'fields', 'create', input, { caller, collection });
  const field = newField(payload);
  if (known.fields.has(field.name))
    throw invalid(`Field "${field.name}" already exists in collection "${collection}".`);
  if (field.type !== 'alias') await addColumn(deps, known, field);
  if (field.row) {
    const sort = field.row.sort ?? (await nextSort(deps, collection, field.row.group ?? null));
    await upsertRow(deps, 'fields', { collection, field: field.name }, { ...field.row, sort });
  }
  announce(deps, 'fields', 'create', payload, { caller, key: field.name, collection, keys: [field.name] });
  return field.name;
}

async function addColumn({ db }: WriteDeps, collection: Collection, field: NewField): Promise<void> {
  if (collection.kind === 'view') throw invalid(`"${collection.name}" is a view of the database and is changed there.`);
  if (isKey(field)) throw invalid('A primary key is set when a collection is created.');
  const table = tableOf(collection);
  await db.ddl(`alter table ${table} add column ${await newColumn(db, field)}`);
  await newColumnIndexes(db, table, collection.table?.name ?? collection.name, field);
}

/** After the last one of its group. */
async function nextSort(deps: WriteDeps, collection: string, group: unknown): Promise<number> {
  const { rows } = await deps.db.query<{ next: number }>(
    `select coalesce(max(sort), 0) + 1 as next from ${registryTable(deps, 'fields')}
    where collection = $1 and "group" is not distinct from $2`,
    [collection, group],
  );
  return rows[0]?.next ?? 1;
}

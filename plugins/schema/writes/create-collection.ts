import type { Caller } from '#kernel';
import { identifier } from '../../database/library.ts';
import { isKey, newColumn, newColumnIndexes } from './column-ddl.ts';
import type { WriteDeps } from './deps.ts';
import { aboutCollection, announce, filtered } from './events.ts';
import { type NewField, newField } from './field-input.ts';
import { invalid, member, nameOf, part } from './payload.ts';
import { rowValues, upsertRow } from './registry-row.ts';

const ID: NewField = {
  name: 'id',
  type: 'integer',
  schema: { is_primary_key: true, has_auto_increment: true },
  row: { interface: 'input', readonly: true, hidden: true },
};

/** Makes a table with its fields, or a folder, and registers them. */
export async function createCollection(deps: WriteDeps, caller: Caller, input: unknown): Promise<string> {
  const payload = await filtered(deps, 'collections', 'create', input, { caller, collection: 'platform_collections' });
  const name = nameOf(payload, 'collection');
  const meta = part(payload, 'meta');
  const schema = part(payload, 'schema');
  const overview = await deps.keeper.overview();
  if (overview.collections.has(name) || (await isTaken(deps, name)))
    throw invalid(`Collection "${name}" already exists.`);
  const fields = fieldsOf(member(payload, 'fields'));
  if (schema) await createTable(deps, name, fields);
  else if (fields.length > 0) throw invalid('Fields need a table: pass "schema": {}.');
  else if (meta === null) throw invalid('A collection needs "schema", "meta" or both.');
  if (meta !== null) await upsertRow(deps, 'collections', { collection: name }, rowValues('collections', meta ?? {}));
  announce(deps, 'collections', 'create', payload, { ...aboutCollection(caller, name), key: name });
  return name;
}

async function createTable(deps: WriteDeps, name: string, asked: readonly NewField[]): Promise<void> {
  const { db } = deps;
  const keys = asked.filter(isKey);
  if (keys.length > 1) throw invalid('Only one field can be the primary key.');
  if (keys.length === 0 && asked.some((field) => field.name === ID.name)) {
    throw invalid('A field "id" that is not the primary key needs another field that is.');
  }
  const fields = keys.length === 0 ? [ID, ...asked] : asked;
  const key = keys[0] ?? ID;
  const columns = fields.filter(({ type }) => type !== 'alias');
  const table = `${identifier(db.schemas[0] as string)}.${identifier(name)}`;
  const lines: string[] = [];
  for (const field of columns) lines.push(await newColumn(db, field));
  await db.ddl(`create table ${table} (${[...lines, `primary key (${identifier(key.name)})`].join(', ')})`);
  for (const field of columns) await newColumnIndexes(db, table, name, field);
  for (const [at, field] of fields.entries()) {
    if (field.row)
      await upsertRow(deps, 'fields', { collection: name, field: field.name }, { sort: at + 1, ...field.row });
  }
}

function fieldsOf(value: unknown): readonly NewField[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw invalid('"fields" must be a list.');
  const fields = value.map(newField);
  const seen = new Set<string>();
  for (const { name } of fields) {
    if (seen.has(name)) throw invalid(`Field "${name}" is given twice.`);
    seen.add(name);
  }
  return fields;
}

/** By anything in the schema, also by what is not served. */
async function isTaken({ db }: WriteDeps, name: string): Promise<boolean> {
  const { rows } = await db.query(
    'select 1 from pg_class c join pg_namespace n on n.oid = c.relnamespace where n.nspname = $1 and c.relname = $2',
    [db.schemas[0], name],
  );
  return rows.length > 0;
}

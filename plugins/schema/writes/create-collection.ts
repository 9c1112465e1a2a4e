import type { Caller } from '#kernel';
import { quoteIdentifier, quoteLiteral } from '../../database/library.ts';
import { createColumnIndexes, isNewPrimaryKeyField, renderNewColumn } from './column-ddl.ts';
import { createCollectionEventMeta, emitSchemaChangeAction, runSchemaChangeFilters } from './events.ts';
import { type NewField, parseNewField } from './field-input.ts';
import {
  createInvalidPayloadFailure,
  ownPayloadMember,
  type Payload,
  parseCollectionOrFieldName,
  parseObjectPayloadMember,
} from './payload.ts';
import { parseRegistryMeta, upsertRegistryRow } from './registry-row.ts';
import type { SchemaWriteDeps } from './write-deps-and-guards.ts';

const DEFAULT_ID_FIELD: NewField = {
  name: 'id',
  type: 'integer',
  schema: { is_primary_key: true, has_auto_increment: true },
  row: { interface: 'input', readonly: true, hidden: true },
};

/** Creates a table with its fields, or a folder, and their registry rows. */
export async function createCollection(deps: SchemaWriteDeps, caller: Caller, input: unknown): Promise<string> {
  const payload = await runSchemaChangeFilters(deps, 'collections', 'create', input, {
    caller,
    collection: 'platform_collections',
  });
  const name = parseCollectionOrFieldName(payload, 'collection');
  const meta = parseObjectPayloadMember(payload, 'meta');
  const schema = parseObjectPayloadMember(payload, 'schema');
  const snapshot = await deps.cache.snapshot();
  if (snapshot.collections.has(name) || (await isTaken(deps, name)))
    throw createInvalidPayloadFailure(`Collection "${name}" already exists.`);
  const fields = parseFields(ownPayloadMember(payload, 'fields'), deps.exact === true);
  if (schema) await createTable(deps, name, fields, schema);
  else if (fields.length > 0) throw createInvalidPayloadFailure('Fields need a table: pass "schema": {}.');
  else if (meta === null) throw createInvalidPayloadFailure('A collection needs "schema", "meta" or both.');
  if (meta !== null)
    await upsertRegistryRow(deps, 'collections', { collection: name }, parseRegistryMeta('collections', meta ?? {}));
  emitSchemaChangeAction(deps, 'collections', 'create', payload, {
    ...createCollectionEventMeta(caller, name),
    key: name,
  });
  return name;
}

async function createTable(
  deps: SchemaWriteDeps,
  name: string,
  requested: readonly NewField[],
  schema: Payload,
): Promise<void> {
  const { db } = deps;
  const keys = requested.filter(isNewPrimaryKeyField);
  if (keys.length > 1 && !deps.exact) throw createInvalidPayloadFailure('Only one field can be the primary key.');
  if (keys.length === 0 && !deps.exact && requested.some((field) => field.name === DEFAULT_ID_FIELD.name)) {
    throw createInvalidPayloadFailure('A field "id" that is not the primary key needs another field that is.');
  }
  const isWithoutKey = deps.exact && keys.length === 0 && requested.some(({ type }) => type !== 'alias');
  const fields = keys.length === 0 && !isWithoutKey ? [DEFAULT_ID_FIELD, ...requested] : requested;
  const key = keys.length > 1 ? orderKey(keys, schema) : isWithoutKey ? [] : [keys[0] ?? DEFAULT_ID_FIELD];
  const columns = fields.filter(({ type }) => type !== 'alias');
  const table = `${quoteIdentifier(db.schemas[0] as string)}.${quoteIdentifier(name)}`;
  const lines: string[] = [];
  for (const field of columns) lines.push(await renderNewColumn(db, field));
  if (key.length > 0) lines.push(`primary key (${key.map((field) => quoteIdentifier(field.name)).join(', ')})`);
  await db.ddl(`create table ${table} (${lines.join(', ')})`);
  if (deps.exact && typeof schema.comment === 'string')
    await db.ddl(`comment on table ${table} is ${quoteLiteral(schema.comment)}`);
  for (const field of columns) await createColumnIndexes(db, table, name, field);
  for (const [at, field] of fields.entries()) {
    if (field.row)
      await upsertRegistryRow(deps, 'fields', { collection: name, field: field.name }, { sort: at + 1, ...field.row });
  }
}

/** The fields of a composite key in the order that the snapshot names. */
function orderKey(keys: readonly NewField[], schema: Payload): readonly NewField[] {
  const order = ownPayloadMember(schema, 'primary_key');
  if (!Array.isArray(order)) return keys;
  return keys.toSorted((a, b) => order.indexOf(a.name) - order.indexOf(b.name));
}

function parseFields(value: unknown, exact: boolean): readonly NewField[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw createInvalidPayloadFailure('"fields" must be a list.');
  const fields = value.map((one) => parseNewField(one, exact));
  const seen = new Set<string>();
  for (const { name } of fields) {
    if (seen.has(name)) throw createInvalidPayloadFailure(`Field "${name}" is listed twice.`);
    seen.add(name);
  }
  return fields;
}

/** Whether any entry of `pg_class` in the first schema (table, view, index, …) has the name, served or not. */
async function isTaken({ db }: SchemaWriteDeps, name: string): Promise<boolean> {
  const { rows } = await db.query(
    'select 1 from pg_class c join pg_namespace n on n.oid = c.relnamespace where n.nspname = $1 and c.relname = $2',
    [db.schemas[0], name],
  );
  return rows.length > 0;
}

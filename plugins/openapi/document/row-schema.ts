import type { JsonSchema } from '../../http/contract.ts';
import { anyOfSchema, listSchema, RECORD_SCHEMA, schemaRef } from '../../http/library.ts';
import type { Collection, Field } from '../../schema/contract.ts';
import { rowSchemaName } from './names.ts';
import { valueSchema, withNull } from './value-schema.ts';
import type { VisibleCollection, VisibleField, VisibleSchema } from './visible-schema.ts';

/** What a write of a to-many relation may have in the place of a list: the rows to create, to change and to delete. */
export const RELATED_CHANGES_NAME = 'RelatedChanges';
export const RELATED_CHANGES: JsonSchema = {
  type: 'object',
  description: 'Changes of the rows of a to-many relation.',
  properties: {
    create: listSchema(RECORD_SCHEMA),
    update: listSchema(RECORD_SCHEMA),
    delete: listSchema(schemaRef('Key')),
  },
};

/** The name of the schema of a row in bodies of requests. */
export const inputSchemaName = (collection: string): string => `${rowSchemaName(collection)}Input`;

/**
 * The schema of a row as answers have it. No field is required, because requests choose the fields; further members are those that
 * requests name by alias, function or aggregate.
 */
export function rowSchema(visible: VisibleCollection, all: VisibleSchema): JsonSchema {
  const properties = visible.readable.flatMap((one) => {
    const schema = answeredSchema(one, all);
    return schema ? [[one.field.name, described(schema, one.field)] as const] : [];
  });
  const { note, collection } = visible;
  const description = note ?? collection.table?.comment;
  return {
    type: 'object',
    ...(description ? { description } : {}),
    // Own properties also for names such as `__proto__`.
    properties: Object.fromEntries(properties),
    'x-collection': collection.name,
  };
}

/** The schema of a row in the body of a create or an update: what the caller may write by either of them. */
export function inputSchema(visible: VisibleCollection, all: VisibleSchema): JsonSchema {
  const properties = visible.writable.flatMap((field) => {
    const schema = sentSchema(field, visible.collection, all);
    return schema ? [[field.name, described(schema, field)] as const] : [];
  });
  return { type: 'object', properties: Object.fromEntries(properties) };
}

function answeredSchema({ field, isAlwaysReadable }: VisibleField, all: VisibleSchema): JsonSchema | undefined {
  const { relation, column } = field;
  if (relation?.kind === 'many') return listSchema(keyOrRow(relation.to, all));
  // Notes and groups of the admin app have no values.
  if (field.type === 'alias') return undefined;
  const value = valueSchema(field, 'answered');
  const related = relation?.kind === 'one' ? [relation.to] : (relation?.allowedCollections ?? []);
  const schema = withRows(value, related, rowSchemaName, all);
  return isAlwaysReadable && column && !column.nullable && !relation && field.type !== 'json'
    ? schema
    : withNull(schema);
}

function sentSchema(field: Field, collection: Collection, all: VisibleSchema): JsonSchema | undefined {
  const { relation, column } = field;
  if (relation?.kind === 'many')
    return withNull(anyOfSchema(listSchema(keyOrInput(relation.to, all)), schemaRef(RELATED_CHANGES_NAME)));
  if (field.type === 'alias') return undefined;
  const related = relation?.kind === 'one' ? [relation.to] : (relation?.allowedCollections ?? []);
  const schema = withRows(valueSchema(field, 'sent'), related, inputSchemaName, all);
  const isRequired = column && !column.nullable && column.default === null && collection.primary !== field.name;
  return isRequired ? schema : withNull(schema);
}

/** A key of a row, or the row itself where the request names its fields. */
const keyOrRow = (to: string, all: VisibleSchema): JsonSchema => withRows(keySchema(to, all), [to], rowSchemaName, all);
const keyOrInput = (to: string, all: VisibleSchema): JsonSchema =>
  withRows(keySchema(to, all), [to], inputSchemaName, all);

function keySchema(name: string, all: VisibleSchema): JsonSchema {
  const key = all.snapshot.collections.get(name)?.key;
  if (!key) return schemaRef('Key');
  // The keys of tables without a key and of several columns are texts.
  return key.parts || !key.column ? { type: 'string' } : valueSchema(key, 'answered');
}

/** Adds rows of the collections that the document has a schema of. */
function withRows(
  value: JsonSchema,
  related: readonly string[],
  nameOf: (collection: string) => string,
  all: VisibleSchema,
): JsonSchema {
  const isInput = nameOf === inputSchemaName;
  const rows = related.filter((name) => {
    const visible = all.collections.get(name);
    return visible && (!isInput || visible.writable.length > 0);
  });
  if (rows.length === 0) return value;
  return anyOfSchema(
    ...(Array.isArray(value.anyOf) ? value.anyOf : [value]),
    ...rows.map((name) => schemaRef(nameOf(name))),
  );
}

/** Adds the note of the field, or the comment of its column. */
function described(schema: JsonSchema, { meta, column }: Field): JsonSchema {
  const description = meta?.note ?? column?.comment;
  const isReadOnly = column?.generated || column?.identityAlways;
  return {
    ...schema,
    ...(description ? { description } : {}),
    ...(isReadOnly ? { readOnly: true } : {}),
  };
}

import { toCollectionMeta, toFieldMeta, toRelationMeta } from '../../schema/library.ts';
import type { CollectionEntry, FieldEntry, JsonObject, RelationEntry } from '../contract.ts';

/**
 * Completes entries of a snapshot that another program or a person wrote: missing members get their defaults, and members that this
 * service does not keep are left out, so that they are no difference for ever.
 */
export function completeCollection({ collection, meta, schema }: CollectionEntry): CollectionEntry {
  const defaults = { ...toCollectionMeta({ collection }), accountability: 'all' };
  return {
    collection,
    meta: meta && completeMeta(defaults, meta, { collection }),
    schema: schema && {
      name: collection,
      ...pickPresent(schema, ['name', 'comment', 'primary_key']),
    },
  };
}

/** The column that a type has without further members, as a snapshot describes it. */
const COLUMNS: Readonly<
  Record<string, readonly [dataType: string, length?: number, precision?: number, scale?: number]>
> = {
  string: ['character varying', 255],
  hash: ['character varying', 255],
  text: ['text'],
  csv: ['text'],
  integer: ['integer', undefined, 32, 0],
  bigInteger: ['bigint', undefined, 64, 0],
  float: ['real', undefined, 24],
  decimal: ['numeric', undefined, 10, 5],
  boolean: ['boolean'],
  date: ['date'],
  dateTime: ['timestamp without time zone'],
  timestamp: ['timestamp with time zone'],
  time: ['time without time zone'],
  json: ['jsonb'],
  uuid: ['uuid'],
  binary: ['bytea'],
};

export function completeField({ collection, field, type, meta, schema }: FieldEntry): FieldEntry {
  return {
    collection,
    field,
    type,
    meta: meta && completeMeta({ ...toFieldMeta({ collection, field }), width: 'full' }, meta, { collection, field }),
    schema: type === 'alias' ? null : (schema ?? (meta ? {} : null)) && completeColumn(collection, field, type, schema),
  };
}

function completeColumn(collection: string, field: string, type: string, schema: JsonObject | null): JsonObject {
  const [dataType = null, length = null, precision = null, scale = null] = COLUMNS[type] ?? [];
  const column = schema ?? {};
  const isNumeric = column.data_type === undefined || column.data_type === dataType;
  return {
    name: field,
    table: collection,
    data_type: dataType,
    default_value: null,
    max_length: length,
    numeric_precision: isNumeric ? precision : null,
    numeric_scale: isNumeric ? scale : null,
    is_nullable: column.is_primary_key !== true,
    is_unique: column.is_primary_key === true,
    is_indexed: false,
    is_primary_key: false,
    is_generated: false,
    generation_expression: null,
    has_auto_increment: false,
    ...pickPresent(column, [
      ...['name', 'table', 'data_type', 'default_value', 'max_length', 'numeric_precision', 'numeric_scale'],
      ...['is_nullable', 'is_unique', 'is_indexed', 'is_primary_key', 'is_generated', 'generation_expression'],
      ...['has_auto_increment', 'default_is_expression', 'comment', 'enum_values'],
    ]),
    ...(column.has_auto_increment === true ? { default_value: null } : {}),
  };
}

export function completeRelation(entry: RelationEntry): RelationEntry {
  const { collection, field, related_collection: related, meta, schema } = entry;
  const defaults = toRelationMeta({ many_collection: collection, many_field: field, one_collection: related });
  return {
    collection,
    field,
    related_collection: related,
    meta:
      meta && completeMeta(defaults, meta, { many_collection: collection, many_field: field, one_collection: related }),
    schema: schema && {
      table: collection,
      column: field,
      constraint_name: `${collection}_${field}_foreign`,
      on_update: 'NO ACTION',
      on_delete: 'NO ACTION',
      // The table and column on the other side follow from the related collection.
      ...pickPresent(schema, ['table', 'column', 'constraint_name']),
      ...pickPresent(schema, ['on_update', 'on_delete', 'columns', 'foreign_key_columns']),
    },
  };
}

function completeMeta(defaults: object, meta: JsonObject, fixed: JsonObject): JsonObject {
  const { id: _id, ...known } = defaults as JsonObject;
  return Object.fromEntries(
    Object.keys({ ...known, ...fixed })
      .sort()
      .map((name) => [name, fixed[name] ?? (Object.hasOwn(meta, name) ? toMetaValue(name, meta[name]) : known[name])]),
  );
}

/** Lists that the registry keeps as text may be written so; an empty one is none. */
function toMetaValue(name: string, value: unknown): unknown {
  if (name !== 'special' && name !== 'one_allowed_collections') return value;
  const list = typeof value === 'string' ? value.split(',').filter((part) => part !== '') : value;
  return Array.isArray(list) && list.length === 0 ? null : list;
}

const pickPresent = (value: JsonObject, names: readonly string[]): JsonObject =>
  Object.fromEntries(names.flatMap((name) => (value[name] === undefined ? [] : [[name, value[name]]])));

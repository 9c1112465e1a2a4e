import { isDatabaseGenerated } from './column-kinds.ts';
import type {
  Collection,
  CollectionMeta,
  Field,
  FieldMeta,
  FieldType,
  Relation,
  RelationMeta,
  SchemaOverview,
} from './contract.ts';
import { parseColumnDefault } from './default-value.ts';
import { toFieldMeta } from './snapshot/registry-rows.ts';

/** A collection in an answer of the API: its table as `schema`, its registry row as `meta`. */
export interface CollectionRecord {
  readonly collection: string;
  readonly meta: CollectionMeta | null;
  readonly schema: { readonly schema: string; readonly name: string; readonly comment: string | null } | null;
}

/** A field in an answer of the API: its column as `schema`, its registry row as `meta`. */
export interface FieldRecord {
  readonly collection: string;
  readonly field: string;
  readonly type: FieldType;
  readonly schema: Readonly<Record<string, unknown>> | null;
  readonly meta: FieldMeta | null;
}

/** A relation in an answer of the API: its foreign key as `schema`, its registry row as `meta`. */
export interface RelationRecord {
  readonly collection: string;
  readonly field: string;
  readonly related_collection: string | null;
  readonly schema: Relation['schema'];
  readonly meta: RelationMeta | null;
}

export const toCollectionRecord = ({ name, meta, table }: Collection): CollectionRecord => ({
  collection: name,
  meta,
  schema: table && { schema: table.schema, name: table.name, comment: table.comment },
});

export const toFieldRecord = (field: Field, snapshot: SchemaOverview): FieldRecord => ({
  collection: field.collection,
  field: field.name,
  type: field.type,
  schema: toColumnRecord(field, snapshot),
  meta: field.meta ?? buildChoicesMeta(field),
});

/** The record of a field, without the foreign key to a collection that the caller may not read. */
export function toReadableFieldRecord(
  field: Field,
  snapshot: SchemaOverview,
  isReadable: (collection: string) => boolean,
): FieldRecord {
  const record = toFieldRecord(field, snapshot);
  if (field.relation?.kind !== 'one' || isReadable(field.relation.to) || !record.schema) return record;
  const withoutTarget = { foreign_key_schema: null, foreign_key_table: null, foreign_key_column: null };
  return { ...record, schema: { ...record.schema, ...withoutTarget } };
}

/** `meta` of an enum column without a registry row: a dropdown of its values. */
function buildChoicesMeta({ collection, name, column }: Field): FieldMeta | null {
  if (!column?.enumValues) return null;
  const choices = column.enumValues.map((value) => ({ text: value, value }));
  return {
    ...toFieldMeta({ collection, field: name }),
    interface: column.array ? 'select-multiple-dropdown' : 'select-dropdown',
    options: { choices },
  };
}

export const toRelationRecord = ({ collection, field, related, schema, meta }: Relation): RelationRecord => ({
  collection,
  field,
  related_collection: related,
  schema,
  meta,
});

function toColumnRecord(
  { collection, column, type, relation }: Field,
  snapshot: SchemaOverview,
): FieldRecord['schema'] {
  if (!column) return null;
  const key = relation?.kind === 'one' ? relation.relation.schema : null;
  return {
    name: column.name,
    table: snapshot.collections.get(collection)?.table?.name ?? collection,
    data_type: column.dataType,
    default_value: parseColumnDefault(type, column),
    generation_expression: column.generationExpression,
    max_length: column.maxLength,
    numeric_precision: column.precision,
    numeric_scale: column.scale,
    is_generated: isDatabaseGenerated(column),
    is_nullable: column.nullable,
    is_unique: column.unique,
    is_indexed: column.indexed,
    is_primary_key: column.primary,
    has_auto_increment: column.autoIncrement,
    foreign_key_schema: key?.foreign_key_schema ?? null,
    foreign_key_table: key?.foreign_key_table ?? null,
    foreign_key_column: key?.foreign_key_column ?? null,
    comment: column.comment,
    enum_values: column.enumValues,
  };
}

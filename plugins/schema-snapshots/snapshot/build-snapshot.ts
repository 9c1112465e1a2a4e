import { VERSION } from '#kernel';
import type { Collection, Field, SchemaOverview } from '../../schema/contract.ts';
import { isExpressionDefault, toFieldRecord } from '../../schema/library.ts';
import type {
  CollectionEntry,
  FieldEntry,
  JsonObject,
  RelationEntry,
  SchemaSnapshotDocument,
  SystemFieldEntry,
} from '../contract.ts';

/** Members of a column in a snapshot, in the order of the conventions. */
export const COLUMN_MEMBERS = [
  'name',
  'table',
  'data_type',
  'default_value',
  'max_length',
  'numeric_precision',
  'numeric_scale',
  'is_nullable',
  'is_unique',
  'is_indexed',
  'is_primary_key',
  'is_generated',
  'generation_expression',
  'has_auto_increment',
  'foreign_key_table',
  'foreign_key_column',
] as const;

/** Members of a foreign key in a snapshot; the last two for keys of several columns. */
export const FOREIGN_KEY_MEMBERS = [
  'table',
  'column',
  'foreign_key_table',
  'foreign_key_column',
  'constraint_name',
  'on_update',
  'on_delete',
  'columns',
  'foreign_key_columns',
] as const;

type BareSnapshot = Pick<SchemaSnapshotDocument, 'collections' | 'fields' | 'systemFields' | 'relations'>;

export const toDocument = (content: BareSnapshot, version: 1 | 2 = 1): SchemaSnapshotDocument => ({
  version,
  tenon: VERSION,
  vendor: 'postgres',
  ...content,
});

/** Tables and folders; views belong to the database, and are changed there. */
const isInSnapshot = ({ system, kind }: Collection): boolean => !system && kind !== 'view';

/** Builds the snapshot of a schema, without parts. */
export function buildSnapshot(source: SchemaOverview): BareSnapshot {
  const collections: CollectionEntry[] = [];
  const fields: FieldEntry[] = [];
  const systemFields: SystemFieldEntry[] = [];
  for (const collection of source.collections.values()) {
    const own = [...collection.fields.values()].filter((field) => isOwnField(field));
    if (isInSnapshot(collection)) {
      collections.push(toCollectionEntry(collection));
      fields.push(...own.map((field) => toFieldEntry(field, source)));
    } else if (collection.system) {
      fields.push(...own.filter(({ meta }) => !meta?.system).map((field) => toFieldEntry(field, source)));
      const indexed = own.filter(({ meta, column }) => meta?.system && column?.indexed);
      systemFields.push(
        ...indexed.map(({ name }) => ({ collection: collection.name, field: name, schema: { is_indexed: true } })),
      );
    }
  }
  return {
    collections: collections.sort(byName),
    fields: fields.sort(byName),
    systemFields: systemFields.sort(byName),
    relations: buildRelations(source).sort(byName),
  };
}

/** A field with a column or a registry row of its own; the field of a composite key has neither. */
const isOwnField = ({ parts }: Field): boolean => parts === undefined;

function buildRelations(source: SchemaOverview): RelationEntry[] {
  return source.relations.flatMap(({ collection, field, related, meta, schema }): readonly RelationEntry[] => {
    const many = source.collections.get(collection);
    if (!many || meta?.system || (!many.system && !isInSnapshot(many))) return [];
    if (many.system && many.fields.get(field)?.meta?.system) return [];
    return [
      {
        collection,
        field,
        related_collection: related,
        meta: meta && withoutId(meta),
        schema: schema && pickMembers(schema, FOREIGN_KEY_MEMBERS),
      },
    ];
  });
}

function toCollectionEntry({ name, meta, table, key }: Collection): CollectionEntry {
  const primaryKey = key?.parts?.map((part) => part.name);
  return {
    collection: name,
    meta: meta && sortMembers({ ...meta }),
    schema: table && {
      name: table.name,
      ...(table.comment === null ? {} : { comment: table.comment }),
      ...(primaryKey ? { primary_key: primaryKey } : {}),
    },
  };
}

function toFieldEntry(field: Field, source: SchemaOverview): FieldEntry {
  const { collection, name, type, meta, column } = field;
  const record = toFieldRecord(field, source).schema;
  const schema = record && pickMembers(record, COLUMN_MEMBERS);
  return {
    collection,
    field: name,
    type,
    meta: meta && withoutId(meta),
    schema: schema && {
      ...schema,
      ...(column?.autoIncrement ? { default_value: null } : {}),
      ...(column && isExpressionDefault(column) ? { default_is_expression: true } : {}),
      ...(column?.comment ? { comment: column.comment } : {}),
      ...(column?.enumValues ? { enum_values: column.enumValues } : {}),
    },
  };
}

function withoutId(meta: object): JsonObject {
  const { id: _id, ...rest } = meta as { id?: unknown };
  return sortMembers(rest);
}

const sortMembers = (value: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));

const pickMembers = (value: object, names: readonly string[]): JsonObject =>
  Object.fromEntries(
    names.flatMap((name) => (Object.hasOwn(value, name) ? [[name, (value as JsonObject)[name]]] : [])),
  );

interface Named {
  readonly collection: string;
  readonly field?: string;
}

function byName(a: Named, b: Named): number {
  const [one, other] = [`${a.collection}\0${a.field ?? ''}`, `${b.collection}\0${b.field ?? ''}`];
  return one < other ? -1 : one > other ? 1 : 0;
}

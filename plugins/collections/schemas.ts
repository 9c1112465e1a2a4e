import type { JsonSchema } from '../http/contract.ts';
import {
  ANYTHING,
  anyOf,
  BOOLEAN,
  exactObject,
  INTEGER,
  listOf,
  nullable,
  objectOf,
  oneOfTexts,
  RECORD,
  schemaRef,
  TEXT,
} from '../http/library.ts';

const OPTIONAL_TEXT = nullable(TEXT);
const OPTIONAL_INTEGER = nullable(INTEGER);

/** The same schema for several members. */
const each = (schema: JsonSchema, ...names: readonly string[]): Readonly<Record<string, JsonSchema>> =>
  Object.fromEntries(names.map((name) => [name, schema]));

const COLLECTION_META = exactObject(
  {
    collection: TEXT,
    ...each(OPTIONAL_TEXT, 'icon', 'note', 'color', 'display_template', 'archive_field', 'archive_value'),
    ...each(OPTIONAL_TEXT, 'unarchive_value', 'sort_field', 'group'),
    ...each(BOOLEAN, 'hidden', 'singleton', 'archive_app_filter'),
    ...each(ANYTHING, 'translations', 'item_duplication_fields'),
    accountability: { enum: ['all', 'activity', null] },
    sort: OPTIONAL_INTEGER,
    collapse: TEXT,
  },
  { system: BOOLEAN },
);

const COLUMN = exactObject({
  ...each(TEXT, 'name', 'table', 'data_type'),
  default_value: ANYTHING,
  ...each(OPTIONAL_TEXT, 'generation_expression', 'foreign_key_schema', 'foreign_key_table', 'foreign_key_column'),
  comment: OPTIONAL_TEXT,
  enum_values: nullable(listOf(TEXT)),
  ...each(OPTIONAL_INTEGER, 'max_length', 'numeric_precision', 'numeric_scale'),
  ...each(BOOLEAN, 'is_generated', 'is_nullable', 'is_unique', 'is_indexed', 'is_primary_key', 'has_auto_increment'),
});

const FIELD_META = exactObject(
  {
    id: OPTIONAL_INTEGER,
    ...each(TEXT, 'collection', 'field'),
    special: nullable(listOf(TEXT)),
    ...each(OPTIONAL_TEXT, 'interface', 'display', 'width', 'group', 'note', 'validation_message'),
    ...each(ANYTHING, 'options', 'display_options', 'translations', 'conditions'),
    ...each(BOOLEAN, 'readonly', 'hidden', 'required', 'searchable'),
    sort: OPTIONAL_INTEGER,
    validation: nullable(RECORD),
  },
  { system: BOOLEAN },
);

const RELATION_META = exactObject(
  {
    id: OPTIONAL_INTEGER,
    ...each(TEXT, 'many_collection', 'many_field'),
    ...each(OPTIONAL_TEXT, 'one_collection', 'one_field', 'one_collection_field', 'junction_field', 'sort_field'),
    one_allowed_collections: nullable(listOf(TEXT)),
    one_deselect_action: oneOfTexts('nullify', 'delete'),
  },
  { system: BOOLEAN },
);

const COLLECTION = exactObject({
  collection: TEXT,
  meta: nullable(COLLECTION_META),
  schema: nullable(exactObject({ schema: TEXT, name: TEXT, comment: OPTIONAL_TEXT })),
});

const FIELD = exactObject({
  ...each(TEXT, 'collection', 'field', 'type'),
  schema: nullable(COLUMN),
  meta: nullable(FIELD_META),
});

const RELATION = exactObject({
  ...each(TEXT, 'collection', 'field'),
  related_collection: OPTIONAL_TEXT,
  schema: nullable(
    exactObject(
      {
        ...each(TEXT, 'constraint_name', 'table', 'column', 'on_update', 'on_delete'),
        ...each(TEXT, 'foreign_key_schema', 'foreign_key_table', 'foreign_key_column'),
      },
      // Only a foreign key of several columns has these members.
      each(listOf(TEXT), 'columns', 'foreign_key_columns'),
    ),
  ),
  meta: nullable(RELATION_META),
});

/** `meta` and `schema` of a change; members that are left out stay. */
const META_AND_SCHEMA = { meta: nullable(RECORD), schema: nullable(RECORD) };
const FIELD_PARTS = { ...META_AND_SCHEMA, type: OPTIONAL_TEXT };
const NEW_FIELD = objectOf({ field: TEXT, ...FIELD_PARTS }, ['field']);
const NEW_COLLECTION = objectOf({ collection: TEXT, ...META_AND_SCHEMA, fields: nullable(listOf(NEW_FIELD)) }, [
  'collection',
]);
const NEW_RELATION = objectOf(
  { collection: TEXT, field: TEXT, related_collection: OPTIONAL_TEXT, ...META_AND_SCHEMA },
  ['collection', 'field'],
);

/** JSON Schemas of the bodies and answers of these routes, by the names that descriptions refer to. */
export const components = {
  schemas: {
    Collection: COLLECTION,
    Field: FIELD,
    Relation: RELATION,
    NewCollection: NEW_COLLECTION,
    NewField: NEW_FIELD,
    NewRelation: NEW_RELATION,
    CollectionChange: objectOf(META_AND_SCHEMA),
    FieldChange: objectOf(FIELD_PARTS),
    RelationChange: objectOf(META_AND_SCHEMA),
  },
};

/** JSON Schema of an element in a list of changes: the name of the collection or field, and its change. */
export const namedChange = (name: 'collection' | 'field', change: string): JsonSchema => ({
  allOf: [objectOf({ [name]: TEXT }, [name]), schemaRef(change)],
});

export const oneOrList = (name: string): JsonSchema => anyOf(schemaRef(name), listOf(schemaRef(name)));

import type { JsonSchema } from '../http/contract.ts';
import {
  ANY_VALUE_SCHEMA,
  anyOf,
  BOOLEAN_SCHEMA,
  exactObject,
  INTEGER_SCHEMA,
  listOf,
  nullable,
  objectOf,
  oneOfTexts,
  RECORD_SCHEMA,
  schemaRef,
  TEXT_SCHEMA,
} from '../http/library.ts';

const OPTIONAL_TEXT = nullable(TEXT_SCHEMA);
const OPTIONAL_INTEGER = nullable(INTEGER_SCHEMA);

/** The same schema for several members. */
const each = (schema: JsonSchema, ...names: readonly string[]): Readonly<Record<string, JsonSchema>> =>
  Object.fromEntries(names.map((name) => [name, schema]));

const COLLECTION_META = exactObject(
  {
    collection: TEXT_SCHEMA,
    ...each(OPTIONAL_TEXT, 'icon', 'note', 'color', 'display_template', 'archive_field', 'archive_value'),
    ...each(OPTIONAL_TEXT, 'unarchive_value', 'sort_field', 'group'),
    ...each(BOOLEAN_SCHEMA, 'hidden', 'singleton', 'archive_app_filter'),
    ...each(ANY_VALUE_SCHEMA, 'translations', 'item_duplication_fields'),
    accountability: { enum: ['all', 'activity', null] },
    sort: OPTIONAL_INTEGER,
    collapse: TEXT_SCHEMA,
  },
  { system: BOOLEAN_SCHEMA },
);

const COLUMN = exactObject({
  ...each(TEXT_SCHEMA, 'name', 'table', 'data_type'),
  default_value: ANY_VALUE_SCHEMA,
  ...each(OPTIONAL_TEXT, 'generation_expression', 'foreign_key_schema', 'foreign_key_table', 'foreign_key_column'),
  comment: OPTIONAL_TEXT,
  enum_values: nullable(listOf(TEXT_SCHEMA)),
  ...each(OPTIONAL_INTEGER, 'max_length', 'numeric_precision', 'numeric_scale'),
  ...each(
    BOOLEAN_SCHEMA,
    'is_generated',
    'is_nullable',
    'is_unique',
    'is_indexed',
    'is_primary_key',
    'has_auto_increment',
  ),
});

const FIELD_META = exactObject(
  {
    id: OPTIONAL_INTEGER,
    ...each(TEXT_SCHEMA, 'collection', 'field'),
    special: nullable(listOf(TEXT_SCHEMA)),
    ...each(OPTIONAL_TEXT, 'interface', 'display', 'width', 'group', 'note', 'validation_message'),
    ...each(ANY_VALUE_SCHEMA, 'options', 'display_options', 'translations', 'conditions'),
    ...each(BOOLEAN_SCHEMA, 'readonly', 'hidden', 'required', 'searchable'),
    sort: OPTIONAL_INTEGER,
    validation: nullable(RECORD_SCHEMA),
  },
  { system: BOOLEAN_SCHEMA },
);

const RELATION_META = exactObject(
  {
    id: OPTIONAL_INTEGER,
    ...each(TEXT_SCHEMA, 'many_collection', 'many_field'),
    ...each(OPTIONAL_TEXT, 'one_collection', 'one_field', 'one_collection_field', 'junction_field', 'sort_field'),
    one_allowed_collections: nullable(listOf(TEXT_SCHEMA)),
    one_deselect_action: oneOfTexts('nullify', 'delete'),
  },
  { system: BOOLEAN_SCHEMA },
);

const COLLECTION = exactObject({
  collection: TEXT_SCHEMA,
  meta: nullable(COLLECTION_META),
  schema: nullable(exactObject({ schema: TEXT_SCHEMA, name: TEXT_SCHEMA, comment: OPTIONAL_TEXT })),
});

const FIELD = exactObject({
  ...each(TEXT_SCHEMA, 'collection', 'field', 'type'),
  schema: nullable(COLUMN),
  meta: nullable(FIELD_META),
});

const RELATION = exactObject({
  ...each(TEXT_SCHEMA, 'collection', 'field'),
  related_collection: OPTIONAL_TEXT,
  schema: nullable(
    exactObject(
      {
        ...each(TEXT_SCHEMA, 'constraint_name', 'table', 'column', 'on_update', 'on_delete'),
        ...each(TEXT_SCHEMA, 'foreign_key_schema', 'foreign_key_table', 'foreign_key_column'),
      },
      // Only a foreign key of several columns has these members.
      each(listOf(TEXT_SCHEMA), 'columns', 'foreign_key_columns'),
    ),
  ),
  meta: nullable(RELATION_META),
});

/** `meta` and `schema` of a change; members that are left out stay. */
const META_AND_SCHEMA = { meta: nullable(RECORD_SCHEMA), schema: nullable(RECORD_SCHEMA) };
const FIELD_PARTS = { ...META_AND_SCHEMA, type: OPTIONAL_TEXT };
const NEW_FIELD = objectOf({ field: TEXT_SCHEMA, ...FIELD_PARTS }, ['field']);
const NEW_COLLECTION = objectOf({ collection: TEXT_SCHEMA, ...META_AND_SCHEMA, fields: nullable(listOf(NEW_FIELD)) }, [
  'collection',
]);
const NEW_RELATION = objectOf(
  { collection: TEXT_SCHEMA, field: TEXT_SCHEMA, related_collection: OPTIONAL_TEXT, ...META_AND_SCHEMA },
  ['collection', 'field'],
);

/** JSON Schemas of the bodies and answers of these routes, by the names that descriptions refer to. */
export const collectionRouteComponents = {
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
  allOf: [objectOf({ [name]: TEXT_SCHEMA }, [name]), schemaRef(change)],
});

export const oneOrList = (name: string): JsonSchema => anyOf(schemaRef(name), listOf(schemaRef(name)));

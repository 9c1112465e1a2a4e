import type { JsonSchema } from '../http/contract.ts';
import {
  ANY_VALUE_SCHEMA,
  anyOfSchema,
  BOOLEAN_SCHEMA,
  enumSchema,
  exactObjectSchema,
  INTEGER_SCHEMA,
  listSchema,
  nullableSchema,
  objectSchema,
  RECORD_SCHEMA,
  schemaRef,
  TEXT_SCHEMA,
} from '../http/library.ts';

const OPTIONAL_TEXT = nullableSchema(TEXT_SCHEMA);
const OPTIONAL_INTEGER = nullableSchema(INTEGER_SCHEMA);

/** The same schema for several members. */
const each = (schema: JsonSchema, ...names: readonly string[]): Readonly<Record<string, JsonSchema>> =>
  Object.fromEntries(names.map((name) => [name, schema]));

const COLLECTION_META = exactObjectSchema(
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

const COLUMN = exactObjectSchema({
  ...each(TEXT_SCHEMA, 'name', 'table', 'data_type'),
  default_value: ANY_VALUE_SCHEMA,
  ...each(OPTIONAL_TEXT, 'generation_expression', 'foreign_key_schema', 'foreign_key_table', 'foreign_key_column'),
  comment: OPTIONAL_TEXT,
  enum_values: nullableSchema(listSchema(TEXT_SCHEMA)),
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

const FIELD_META = exactObjectSchema(
  {
    id: OPTIONAL_INTEGER,
    ...each(TEXT_SCHEMA, 'collection', 'field'),
    special: nullableSchema(listSchema(TEXT_SCHEMA)),
    ...each(OPTIONAL_TEXT, 'interface', 'display', 'width', 'group', 'note', 'validation_message'),
    ...each(ANY_VALUE_SCHEMA, 'options', 'display_options', 'translations', 'conditions'),
    ...each(BOOLEAN_SCHEMA, 'readonly', 'hidden', 'required', 'searchable'),
    sort: OPTIONAL_INTEGER,
    validation: nullableSchema(RECORD_SCHEMA),
  },
  { system: BOOLEAN_SCHEMA },
);

const RELATION_META = exactObjectSchema(
  {
    id: OPTIONAL_INTEGER,
    ...each(TEXT_SCHEMA, 'many_collection', 'many_field'),
    ...each(OPTIONAL_TEXT, 'one_collection', 'one_field', 'one_collection_field', 'junction_field', 'sort_field'),
    one_allowed_collections: nullableSchema(listSchema(TEXT_SCHEMA)),
    one_deselect_action: enumSchema('nullify', 'delete'),
  },
  { system: BOOLEAN_SCHEMA },
);

const COLLECTION = exactObjectSchema({
  collection: TEXT_SCHEMA,
  meta: nullableSchema(COLLECTION_META),
  schema: nullableSchema(exactObjectSchema({ schema: TEXT_SCHEMA, name: TEXT_SCHEMA, comment: OPTIONAL_TEXT })),
});

const FIELD = exactObjectSchema({
  ...each(TEXT_SCHEMA, 'collection', 'field', 'type'),
  schema: nullableSchema(COLUMN),
  meta: nullableSchema(FIELD_META),
});

const RELATION = exactObjectSchema({
  ...each(TEXT_SCHEMA, 'collection', 'field'),
  related_collection: OPTIONAL_TEXT,
  schema: nullableSchema(
    exactObjectSchema(
      {
        ...each(TEXT_SCHEMA, 'constraint_name', 'table', 'column', 'on_update', 'on_delete'),
        ...each(TEXT_SCHEMA, 'foreign_key_schema', 'foreign_key_table', 'foreign_key_column'),
      },
      // Only a foreign key of several columns has these members.
      each(listSchema(TEXT_SCHEMA), 'columns', 'foreign_key_columns'),
    ),
  ),
  meta: nullableSchema(RELATION_META),
});

/** `meta` and `schema` of a change; members that are left out stay. */
const META_AND_SCHEMA = { meta: nullableSchema(RECORD_SCHEMA), schema: nullableSchema(RECORD_SCHEMA) };
const FIELD_PARTS = { ...META_AND_SCHEMA, type: OPTIONAL_TEXT };
const NEW_FIELD = objectSchema({ field: TEXT_SCHEMA, ...FIELD_PARTS }, ['field']);
const NEW_COLLECTION = objectSchema(
  { collection: TEXT_SCHEMA, ...META_AND_SCHEMA, fields: nullableSchema(listSchema(NEW_FIELD)) },
  ['collection'],
);
const NEW_RELATION = objectSchema(
  { collection: TEXT_SCHEMA, field: TEXT_SCHEMA, related_collection: OPTIONAL_TEXT, ...META_AND_SCHEMA },
  ['collection', 'field'],
);

/** JSON Schemas of the bodies and answers of these routes, by the names that descriptions refer to. */
export const collectionRouteOpenapiComponents = {
  schemas: {
    Collection: COLLECTION,
    Field: FIELD,
    Relation: RELATION,
    NewCollection: NEW_COLLECTION,
    NewField: NEW_FIELD,
    NewRelation: NEW_RELATION,
    CollectionChange: objectSchema(META_AND_SCHEMA),
    FieldChange: objectSchema(FIELD_PARTS),
    RelationChange: objectSchema(META_AND_SCHEMA),
  },
};

/** JSON Schema of an element in a list of changes: the name of the collection or field, and its change. */
export const buildChangeListElementSchema = (name: 'collection' | 'field', change: string): JsonSchema => ({
  allOf: [objectSchema({ [name]: TEXT_SCHEMA }, [name]), schemaRef(change)],
});

export const oneOrListSchema = (name: string): JsonSchema => anyOfSchema(schemaRef(name), listSchema(schemaRef(name)));

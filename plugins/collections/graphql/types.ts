// The answers of `/collections`, `/fields` and `/relations` in the GraphQL schema language. Inputs have the same
// members, so that clients can send back what they have read; read-only members have no effect, as by REST.

const COLLECTION_META = `{
  collection: String
  icon: String
  note: String
  color: String
  display_template: String
  hidden: Boolean
  singleton: Boolean
  translations: JSON
  archive_field: String
  archive_value: String
  unarchive_value: String
  archive_app_filter: Boolean
  sort_field: String
  accountability: String
  item_duplication_fields: JSON
  sort: Int
  group: String
  collapse: String
  system: Boolean
}`;
const COLLECTION_SCHEMA = '{ schema: String name: String comment: String }';

const FIELD_META = `{
  id: Int
  collection: String
  field: String
  special: [String]
  interface: String
  options: JSON
  display: String
  display_options: JSON
  readonly: Boolean
  hidden: Boolean
  required: Boolean
  sort: Int
  width: String
  group: String
  translations: JSON
  note: String
  conditions: JSON
  validation: JSON
  validation_message: String
  searchable: Boolean
  system: Boolean
}`;
const FIELD_SCHEMA = `{
  name: String
  table: String
  data_type: String
  default_value: JSON
  generation_expression: String
  max_length: Int
  numeric_precision: Int
  numeric_scale: Int
  is_generated: Boolean
  is_nullable: Boolean
  is_unique: Boolean
  is_indexed: Boolean
  is_primary_key: Boolean
  has_auto_increment: Boolean
  foreign_key_schema: String
  foreign_key_table: String
  foreign_key_column: String
  comment: String
  enum_values: [String]
}`;

const RELATION_META = `{
  id: Int
  many_collection: String
  many_field: String
  one_collection: String
  one_field: String
  one_collection_field: String
  one_allowed_collections: [String]
  junction_field: String
  sort_field: String
  one_deselect_action: String
  system: Boolean
}`;
const RELATION_SCHEMA = `{
  constraint_name: String
  table: String
  column: String
  foreign_key_schema: String
  foreign_key_table: String
  foreign_key_column: String
  columns: [String]
  foreign_key_columns: [String]
  on_update: String
  on_delete: String
}`;

const renderOutputTypes = (name: string, members: string, meta: string, schema: string): string => `
  type platform_${name} { ${members} meta: platform_${name}_meta schema: platform_${name}_schema }
  type platform_${name}_meta ${meta}
  type platform_${name}_schema ${schema}`;
const renderInputParts = (name: string, meta: string, schema: string): string => `
  input platform_${name}_meta_input ${meta}
  input platform_${name}_schema_input ${schema}`;
const renderInput = (verb: 'create' | 'update', name: string, members: string): string => `
  input ${verb}_platform_${name}_input {
    ${members} meta: platform_${name}_meta_input schema: platform_${name}_schema_input
  }`;

export const COLLECTION_GRAPHQL_TYPES = renderOutputTypes(
  'collections',
  'collection: String',
  COLLECTION_META,
  COLLECTION_SCHEMA,
);
export const FIELD_GRAPHQL_TYPES = renderOutputTypes(
  'fields',
  'collection: String field: String type: String',
  FIELD_META,
  FIELD_SCHEMA,
);
export const RELATION_GRAPHQL_TYPES = renderOutputTypes(
  'relations',
  'collection: String field: String related_collection: String',
  RELATION_META,
  RELATION_SCHEMA,
);

const FIELD_PARTS = renderInputParts('fields', FIELD_META, FIELD_SCHEMA);
const COLLECTION_PARTS = renderInputParts('collections', COLLECTION_META, COLLECTION_SCHEMA);
const RELATION_PARTS = renderInputParts('relations', RELATION_META, RELATION_SCHEMA);

export const CREATE_FIELD_GRAPHQL_INPUT =
  FIELD_PARTS + renderInput('create', 'fields', 'collection: String field: String! type: String');
export const UPDATE_FIELD_GRAPHQL_INPUT =
  FIELD_PARTS + renderInput('update', 'fields', 'collection: String field: String type: String');
export const CREATE_COLLECTION_GRAPHQL_INPUT =
  COLLECTION_PARTS +
  renderInput('create', 'collections', 'collection: String! fields: [create_platform_fields_input!]') +
  CREATE_FIELD_GRAPHQL_INPUT;
export const UPDATE_COLLECTION_GRAPHQL_INPUT =
  COLLECTION_PARTS + renderInput('update', 'collections', 'collection: String');
export const CREATE_RELATION_GRAPHQL_INPUT =
  RELATION_PARTS + renderInput('create', 'relations', 'collection: String! field: String! related_collection: String');
export const UPDATE_RELATION_GRAPHQL_INPUT =
  RELATION_PARTS + renderInput('update', 'relations', 'collection: String field: String related_collection: String');

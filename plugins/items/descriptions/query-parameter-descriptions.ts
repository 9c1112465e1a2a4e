import type { ComponentReference, JsonSchema, OpenApiComponents, ParameterDescription } from '../../http/contract.ts';
import {
  anyOfSchema,
  BOOLEAN_SCHEMA,
  describeParameter,
  enumSchema,
  exactObjectSchema,
  INTEGER_SCHEMA,
  listSchema,
  nullableSchema,
  parameterRef,
  RECORD_SCHEMA,
  TEXT_SCHEMA,
} from '../../http/library.ts';
import { EXPORT_FORMATS } from '../read/export/formats.ts';

/** Names, as a list or as one text with commas. */
const NAMES = anyOfSchema(TEXT_SCHEMA, listSchema(TEXT_SCHEMA));
/** An object, or the JSON text of one. */
const NESTED = anyOfSchema(RECORD_SCHEMA, TEXT_SCHEMA);
const META_NAMES = ['total_count', 'filter_count', '*'];

const SHAPE_DESCRIPTIONS: Readonly<Record<string, ParameterDescription>> = {
  fields: describeParameter('The fields of the answer, with dots into relations; * for all of a level.', NAMES),
  deep: describeParameter(
    'Filter, sort and paging of related rows: an object by relation, its keys with an underscore.',
    NESTED,
  ),
  alias: describeParameter('Other names for fields of the answer: an object of name and field.', NESTED),
};

const SELECTION_DESCRIPTIONS: Readonly<Record<string, ParameterDescription>> = {
  filter: describeParameter(
    'The rows that are meant: an object of fields and operators, joined by _and and _or.',
    NESTED,
  ),
  search: describeParameter('A text that a searchable field must contain, or words that a search vector must have.'),
  sort: describeParameter('The fields by which rows are ordered; a minus sign before a name reverses it.', NAMES),
  limit: describeParameter('The largest number of rows; -1 for all.', INTEGER_SCHEMA),
  offset: describeParameter('The number of rows that are left out first.', INTEGER_SCHEMA),
  page: describeParameter('The page of "limit" rows, from 1; in the place of "offset".', INTEGER_SCHEMA),
  aggregate: describeParameter('Functions over the rows: an object of function and fields.', NESTED),
  groupBy: describeParameter('The fields by which "aggregate" groups rows.', NAMES),
  backlink: describeParameter(
    'Whether a wildcard in "fields" leads back over the relation that it came by.',
    BOOLEAN_SCHEMA,
  ),
};

const RESPONSE_DESCRIPTIONS: Readonly<Record<string, ParameterDescription>> = {
  meta: describeParameter(
    'Counts that are sent beside the rows.',
    anyOfSchema(enumSchema(...META_NAMES), listSchema(enumSchema(...META_NAMES))),
  ),
  export: describeParameter('Sends the rows as a file of this format.', enumSchema(...Object.keys(EXPORT_FORMATS))),
};

const parameters = { ...SHAPE_DESCRIPTIONS, ...SELECTION_DESCRIPTIONS, ...RESPONSE_DESCRIPTIONS };

/** The names of all query parameters. */
export const QUERY_PARAMETER_NAMES: ReadonlySet<string> = new Set(Object.keys(parameters));

const toParameterReferences = (of: Readonly<Record<string, unknown>>): Readonly<Record<string, ComponentReference>> =>
  Object.fromEntries(Object.keys(of).map((name) => [name, parameterRef(name)]));

/** Query parameters of a read of a list. */
export const LIST_QUERY_PARAMETER_REFS = toParameterReferences(parameters);
/** Query parameters of a read of one row. */
export const SINGLE_ROW_QUERY_PARAMETER_REFS = toParameterReferences({
  ...SHAPE_DESCRIPTIONS,
  backlink: SELECTION_DESCRIPTIONS.backlink,
});
export const ANSWER_SHAPE_QUERY_PARAMETER_REFS = toParameterReferences(SHAPE_DESCRIPTIONS);

/**
 * The schema of a query parameter inside of a body: numbers and flags may be texts and lists may be objects by index,
 * as in a query string.
 */
const toBodyMember = ({ schema }: ParameterDescription): JsonSchema =>
  nullableSchema(anyOfSchema(schema, TEXT_SCHEMA, RECORD_SCHEMA));

/** The parameters as one object, in the bodies of SEARCH and of changes by query. */
const QUERY: JsonSchema = {
  type: 'object',
  properties: Object.fromEntries(Object.entries(parameters).map(([name, one]) => [name, toBodyMember(one)])),
};

export const queryOpenApiComponents = {
  parameters,
  schemas: {
    Query: QUERY,
    Key: {
      description: 'A key of several columns is their texts, joined by commas, or an object of these columns.',
      type: ['string', 'number', 'object'],
    },
    Meta: nullableSchema(exactObjectSchema({}, { total_count: INTEGER_SCHEMA, filter_count: INTEGER_SCHEMA })),
    /** A row of a collection. `x-collection` beside a reference names it; the fields come from the schema. */
    Item: RECORD_SCHEMA,
  },
} as const satisfies OpenApiComponents;

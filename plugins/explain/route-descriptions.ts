import type { RouteDescription } from '../http/contract.ts';
import {
  ANY_VALUE_SCHEMA,
  anyOfSchema,
  describeDataAnswer,
  describeJsonBody,
  describeParameter,
  enumSchema,
  exactObjectSchema,
  INTEGER_SCHEMA,
  listSchema,
  nullableSchema,
  objectSchema,
  schemaRef,
  TEXT_SCHEMA,
} from '../http/library.ts';
import {
  LIST_QUERY_PARAMETER_REFS,
  queryOpenApiComponents,
  SINGLE_ROW_QUERY_PARAMETER_REFS,
} from '../items/library.ts';

const READ_PLAN = exactObjectSchema({
  collection: TEXT_SCHEMA,
  shape: TEXT_SCHEMA,
  statement: TEXT_SCHEMA,
  form: enumSchema('text', 'rows'),
  parameters: listSchema(
    exactObjectSchema({ index: INTEGER_SCHEMA, type: nullableSchema(TEXT_SCHEMA), value: { const: '?' } }),
  ),
  plan: ANY_VALUE_SCHEMA,
});
const MISSING_INDEX = exactObjectSchema({
  collection: TEXT_SCHEMA,
  field: TEXT_SCHEMA,
  related: nullableSchema(TEXT_SCHEMA),
  statement: TEXT_SCHEMA,
});

const { parameters, schemas } = queryOpenApiComponents;
const base = {
  tag: 'explain',
  access: 'admin',
  errors: ['ROUTE_NOT_FOUND'],
  components: { parameters, schemas: { ...schemas, ReadPlan: READ_PLAN, MissingIndex: MISSING_INDEX } },
} as const;
const collection = describeParameter('The full name of the collection.');

export const MISSING_INDEXES_ROUTE_DESCRIPTION: RouteDescription = {
  ...base,
  summary: 'Lists the foreign keys without an index, each with the statement that makes one.',
  answers: describeDataAnswer(exactObjectSchema({ missing_indexes: listSchema(schemaRef('MissingIndex')) })),
};

export const EXPLAIN_LIST_ROUTE_DESCRIPTION: RouteDescription = {
  ...base,
  summary: 'Shows the statement and the plan of a list read.',
  params: { collection },
  query: LIST_QUERY_PARAMETER_REFS,
  answers: describeDataAnswer(schemaRef('ReadPlan')),
};

export const EXPLAIN_ROW_ROUTE_DESCRIPTION: RouteDescription = {
  ...base,
  summary: 'Shows the statement and the plan of a read by key.',
  params: { collection, id: describeParameter('Any key; its value is not in the plan.') },
  query: SINGLE_ROW_QUERY_PARAMETER_REFS,
  answers: describeDataAnswer(schemaRef('ReadPlan')),
};

export const EXPLAIN_SEARCH_ROUTE_DESCRIPTION: RouteDescription = {
  ...base,
  summary: 'Shows the statement and the plan of a list read whose query is in the body.',
  params: { collection },
  // A list is accepted as the body, too: it has no member "query", so the read has no query parameters.
  body: describeJsonBody(anyOfSchema(objectSchema({ query: schemaRef('Query') }), listSchema(ANY_VALUE_SCHEMA)), {
    required: false,
  }),
  answers: describeDataAnswer(schemaRef('ReadPlan')),
};

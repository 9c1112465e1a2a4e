import type { RouteDescription } from '../http/contract.ts';
import {
  ANYTHING,
  anyOf,
  dataAnswer,
  exactObject,
  INTEGER,
  jsonBody,
  listOf,
  nullable,
  objectOf,
  oneOfTexts,
  parameter,
  schemaRef,
  TEXT,
} from '../http/library.ts';
import { LIST_PARAMETERS, queryComponents, SINGLE_ROW_PARAMETERS } from '../items/library.ts';

const READ_PLAN = exactObject({
  collection: TEXT,
  shape: TEXT,
  statement: TEXT,
  form: oneOfTexts('text', 'rows'),
  parameters: listOf(exactObject({ index: INTEGER, type: nullable(TEXT), value: { const: '?' } })),
  plan: ANYTHING,
});
const MISSING_INDEX = exactObject({ collection: TEXT, field: TEXT, related: nullable(TEXT), statement: TEXT });

const { parameters, schemas } = queryComponents;
const base = {
  tag: 'explain',
  access: 'admin',
  errors: ['ROUTE_NOT_FOUND'],
  components: { parameters, schemas: { ...schemas, ReadPlan: READ_PLAN, MissingIndex: MISSING_INDEX } },
} as const;
const collection = parameter('The full name of the collection.');

export const INDEXES: RouteDescription = {
  ...base,
  summary: 'Lists the foreign keys without an index, each with the statement that makes one.',
  answers: dataAnswer(exactObject({ missing_indexes: listOf(schemaRef('MissingIndex')) })),
};

export const LIST: RouteDescription = {
  ...base,
  summary: 'Shows the statement and the plan of a list read.',
  params: { collection },
  query: LIST_PARAMETERS,
  answers: dataAnswer(schemaRef('ReadPlan')),
};

export const ROW: RouteDescription = {
  ...base,
  summary: 'Shows the statement and the plan of a read by key.',
  params: { collection, id: parameter('Any key; its value is not in the plan.') },
  query: SINGLE_ROW_PARAMETERS,
  answers: dataAnswer(schemaRef('ReadPlan')),
};

export const SEARCH: RouteDescription = {
  ...base,
  summary: 'Shows the statement and the plan of a list read whose query is in the body.',
  params: { collection },
  // A list is accepted as the body, too: it has no member "query", so the read has no query parameters.
  body: jsonBody(anyOf(objectOf({ query: schemaRef('Query') }), listOf(ANYTHING)), { required: false }),
  answers: dataAnswer(schemaRef('ReadPlan')),
};

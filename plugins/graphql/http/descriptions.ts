import type { BodySchemas, RouteDescription } from '../../http/contract.ts';
import {
  exactObject,
  listOf,
  nullable,
  objectOf,
  oneOfTexts,
  parameter,
  RECORD,
  schemaRef,
  TEXT,
} from '../../http/library.ts';

/** With `data` after a document ran; without it for an invalid request. */
const RESPONSE_SCHEMA = exactObject(
  {},
  {
    data: nullable(RECORD),
    errors: { ...listOf(objectOf({ message: TEXT, extensions: objectOf({ code: TEXT }) }, ['message'])), minItems: 1 },
  },
);
const REQUEST_SCHEMA = objectOf(
  { query: TEXT, variables: nullable(RECORD), operationName: nullable(TEXT), extensions: nullable(RECORD) },
  ['query'],
);

const components = { schemas: { GraphqlAnswer: RESPONSE_SCHEMA, GraphqlRequest: REQUEST_SCHEMA } };
const base = { tag: 'graphql', components } as const;

const responseContent: BodySchemas = {
  'application/json': schemaRef('GraphqlAnswer'),
  'application/graphql-response+json': schemaRef('GraphqlAnswer'),
};
/** 400 has codes of GraphQL, and `locations` in the document. */
const responses = { 200: responseContent, 400: responseContent } as const;
const pageContent: BodySchemas = { 'text/html': TEXT };

export const GET: RouteDescription = {
  ...base,
  access: 'permissions',
  summary: 'Runs a GraphQL query; sends the explorer to browsers.',
  query: {
    query: parameter('The document.'),
    variables: parameter('An object of variables, as JSON.'),
    operationName: parameter('The name of the operation to run.'),
    extensions: parameter('An object as JSON, which is ignored.'),
  },
  answers: { ...responses, 200: { ...responseContent, ...pageContent } },
  errors: ['INVALID_PAYLOAD', 'METHOD_NOT_ALLOWED'],
};

export const POST: RouteDescription = {
  ...base,
  access: 'permissions',
  summary: 'Runs a GraphQL query or mutation.',
  body: { content: { 'application/json': schemaRef('GraphqlRequest') } },
  answers: responses,
};

export const OTHER_METHODS: RouteDescription = {
  ...base,
  access: 'public',
  summary: 'Refuses all other methods.',
  answers: {},
  errors: ['METHOD_NOT_ALLOWED'],
};

export const SDL: RouteDescription = {
  tag: 'graphql',
  access: 'permissions',
  summary: 'Sends the GraphQL schema of the caller in the schema language, as a file.',
  answers: { 200: { 'text/plain': TEXT } },
};

export const SDL_OF_SCOPE: RouteDescription = {
  ...SDL,
  params: {
    scope: parameter(
      'The schema of user collections (`items`) or of system collections (`system`).',
      oneOfTexts('items', 'system'),
    ),
  },
  errors: ['ROUTE_NOT_FOUND'],
};

export const EXPLORER_FILE: RouteDescription = {
  tag: 'graphql',
  access: 'public',
  summary: 'Sends a file of the explorer.',
  params: { file: parameter('The name of the file, which changes with its content.') },
  answers: { 200: { 'text/javascript': TEXT, 'text/css': TEXT, 'font/ttf': {} } },
  errors: ['ROUTE_NOT_FOUND'],
};

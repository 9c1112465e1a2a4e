import type { RouteDescription, SchemaByMediaType } from '../../http/contract.ts';
import {
  describeParameter,
  enumSchema,
  exactObjectSchema,
  listSchema,
  nullableSchema,
  objectSchema,
  RECORD_SCHEMA,
  schemaRef,
  TEXT_SCHEMA,
} from '../../http/library.ts';

/** With `data` after a document ran; without it for an invalid request. */
const RESPONSE_SCHEMA = exactObjectSchema(
  {},
  {
    data: nullableSchema(RECORD_SCHEMA),
    errors: {
      ...listSchema(
        objectSchema({ message: TEXT_SCHEMA, extensions: objectSchema({ code: TEXT_SCHEMA }) }, ['message']),
      ),
      minItems: 1,
    },
  },
);
const REQUEST_SCHEMA = objectSchema(
  {
    query: TEXT_SCHEMA,
    variables: nullableSchema(RECORD_SCHEMA),
    operationName: nullableSchema(TEXT_SCHEMA),
    extensions: nullableSchema(RECORD_SCHEMA),
  },
  ['query'],
);

const components = { schemas: { GraphqlAnswer: RESPONSE_SCHEMA, GraphqlRequest: REQUEST_SCHEMA } };
const base = { tag: 'graphql', components } as const;

const responseContent: SchemaByMediaType = {
  'application/json': schemaRef('GraphqlAnswer'),
  'application/graphql-response+json': schemaRef('GraphqlAnswer'),
};
/** 400 has codes of GraphQL, and `locations` in the document. Errors of the route itself have its media type as well. */
const responses = { 200: responseContent, 400: responseContent, 405: responseContent, 415: responseContent } as const;
const pageContent: SchemaByMediaType = { 'text/html': TEXT_SCHEMA };
/** Where there are subscriptions, on `/graphql` only. */
const eventStreamContent: SchemaByMediaType = { 'text/event-stream': TEXT_SCHEMA };

export const GRAPHQL_GET_ROUTE_DESCRIPTION: RouteDescription = {
  ...base,
  access: 'permissions',
  summary: 'Runs a GraphQL query; sends the explorer to browsers.',
  query: {
    query: describeParameter('The document.'),
    variables: describeParameter('An object of variables, as JSON.'),
    operationName: describeParameter('The name of the operation to run.'),
    extensions: describeParameter('An object as JSON; an event stream reads `since` of it.'),
  },
  answers: { ...responses, 200: { ...responseContent, ...pageContent, ...eventStreamContent } },
  errors: ['INVALID_PAYLOAD', 'METHOD_NOT_ALLOWED'],
};

export const GRAPHQL_POST_ROUTE_DESCRIPTION: RouteDescription = {
  ...base,
  access: 'permissions',
  summary: 'Runs a GraphQL query or mutation.',
  body: { content: { 'application/json': schemaRef('GraphqlRequest') } },
  answers: { ...responses, 200: { ...responseContent, ...eventStreamContent } },
};

export const GRAPHQL_405_ROUTE_DESCRIPTION: RouteDescription = {
  ...base,
  access: 'public',
  summary: 'Refuses all other methods.',
  answers: {},
  errors: ['METHOD_NOT_ALLOWED'],
};

export const GRAPHQL_SDL_ROUTE_DESCRIPTION: RouteDescription = {
  tag: 'graphql',
  access: 'permissions',
  summary: 'Sends the GraphQL schema of the caller in the schema language, as a file.',
  answers: { 200: { 'text/plain': TEXT_SCHEMA } },
};

export const GRAPHQL_SCOPE_SDL_DESCRIPTION: RouteDescription = {
  ...GRAPHQL_SDL_ROUTE_DESCRIPTION,
  params: {
    scope: describeParameter(
      'The schema of user collections (`items`) or of system collections (`system`).',
      enumSchema('items', 'system'),
    ),
  },
  errors: ['ROUTE_NOT_FOUND'],
};

export const EXPLORER_FILE_ROUTE_DESCRIPTION: RouteDescription = {
  tag: 'graphql',
  access: 'public',
  summary: 'Sends a file of the explorer.',
  params: { file: describeParameter('The name of the file, which changes with its content.') },
  answers: { 200: { 'text/javascript': TEXT_SCHEMA, 'text/css': TEXT_SCHEMA, 'font/ttf': {} } },
  errors: ['ROUTE_NOT_FOUND'],
};

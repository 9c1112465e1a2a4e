import type { RouteDescription } from '../http/contract.ts';
import { describeParameter, objectSchema, TEXT_SCHEMA } from '../http/library.ts';

const OBJECT = { type: 'object' };

const DOCUMENT = objectSchema(
  {
    openapi: TEXT_SCHEMA,
    info: OBJECT,
    servers: { type: 'array' },
    tags: { type: 'array' },
    paths: OBJECT,
    components: OBJECT,
  },
  ['openapi', 'info', 'servers', 'tags', 'paths', 'components'],
);

export const DOCUMENT_DESCRIPTION: RouteDescription = {
  tag: 'server',
  access: 'public',
  summary: 'Answers the OpenAPI document of the service, with the collections that the caller may read.',
  query: {},
  answers: { 200: { 'application/json': DOCUMENT } },
};

export const PAGE_DESCRIPTION: RouteDescription = {
  tag: 'server',
  access: 'public',
  summary: 'Shows the OpenAPI document on a page.',
  query: {},
  answers: { 200: { 'text/html': TEXT_SCHEMA } },
};

export const PAGE_FILE_DESCRIPTION: RouteDescription = {
  tag: 'server',
  access: 'public',
  summary: 'Sends a file of the page that shows the OpenAPI document.',
  params: { file: describeParameter('The name of the file, which changes with its content.') },
  query: {},
  answers: { 200: { 'text/javascript': TEXT_SCHEMA, 'text/css': TEXT_SCHEMA } },
  errors: ['ROUTE_NOT_FOUND'],
};

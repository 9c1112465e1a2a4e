import { FILE_ERROR_CODES } from '../files/library.ts';
import type { RouteDescription } from '../http/contract.ts';
import {
  anyOfSchema,
  describeJsonBody,
  describeParameter,
  enumSchema,
  INTEGER_SCHEMA,
  NO_CONTENT_ANSWER_DESCRIPTION,
  nullableSchema,
  objectSchema,
  RECORD_SCHEMA,
} from '../http/library.ts';
import { EXPORT_FORMATS, WRITE_ERROR_CODES } from '../items/library.ts';

const PARAMS = { collection: describeParameter('The name of the collection.') };

export const IMPORT_ROUTE_DESCRIPTION: RouteDescription = {
  tag: 'utilities',
  access: 'permissions',
  summary:
    'Writes the rows of a CSV or JSON file, all or none: rows whose key exists are updated, the others are created. Errors have the number of their row in `extensions.row`.',
  params: PARAMS,
  body: { content: { 'multipart/form-data': objectSchema({ file: {} }, ['file']) } },
  answers: { 200: {} },
  errors: [...WRITE_ERROR_CODES, 'OUT_OF_TIME', 'ROUTE_NOT_FOUND', 'CONTENT_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE'],
};

const QUERY_SCHEMA = {
  ...objectSchema({ limit: nullableSchema({ ...INTEGER_SCHEMA, minimum: -1 }) }),
  description: 'The query of a list; without a limit all rows, whatever QUERY_LIMIT_MAX is.',
};

export const EXPORT_ROUTE_DESCRIPTION: RouteDescription = {
  tag: 'utilities',
  access: 'permissions',
  summary:
    'Exports rows into a new file, in the background; a notification says when it is done or why it failed. Needs permission to create files.',
  params: PARAMS,
  body: describeJsonBody(
    objectSchema(
      {
        query: QUERY_SCHEMA,
        format: enumSchema(...Object.keys(EXPORT_FORMATS)),
        file: anyOfSchema(RECORD_SCHEMA, { type: 'null' }),
      },
      ['query', 'format'],
    ),
  ),
  answers: NO_CONTENT_ANSWER_DESCRIPTION,
  errors: [...FILE_ERROR_CODES, 'INVALID_QUERY', 'ROUTE_NOT_FOUND'],
};

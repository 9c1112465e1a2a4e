import type { ErrorCode } from '#kernel';
import type { JsonSchema, RouteDescription } from '../../http/contract.ts';
import {
  anyOfSchema,
  describeDataAnswer,
  describeJsonBody,
  listSchema,
  NO_CONTENT_ANSWER_DESCRIPTION,
  nullableSchema,
  objectSchema,
  schemaRef,
  TEXT_SCHEMA,
} from '../../http/library.ts';
import {
  ANSWER_SHAPE_QUERY_PARAMETER_REFS,
  itemSchema,
  queryOpenApiComponents,
  WRITE_ERROR_CODES,
} from '../../items/library.ts';
import { FILES_COLLECTION_NAME } from '../contract.ts';

const FILE_SCHEMA = itemSchema(FILES_COLLECTION_NAME);

/** Error codes of uploads and of writes of rows. */
export const FILE_ERROR_CODES: readonly ErrorCode[] = [...WRITE_ERROR_CODES, 'OUT_OF_TIME'];

/** JSON Schema of a form with a file: the fields of the row precede the file, as texts. */
const FORM_SCHEMA: JsonSchema = { ...objectSchema({ file: {} }), additionalProperties: TEXT_SCHEMA };

/** Adds a form to the description of a route that takes JSON. */
export const describeFormBody = (description: RouteDescription, summary: string): RouteDescription => ({
  ...description,
  summary,
  body: { ...description.body, content: { ...description.body?.content, 'multipart/form-data': FORM_SCHEMA } },
  errors: FILE_ERROR_CODES,
});

export const FILE_CREATE_SUMMARY =
  'Creates files: the bytes of one or several in a form, or a row without bytes as JSON.';
export const FILE_UPDATE_SUMMARY = 'Changes one file: other bytes and values in a form, or values as JSON.';

export const FILE_IMPORT_ROUTE_DESCRIPTION: RouteDescription = {
  tag: 'files',
  access: 'permissions',
  summary: 'Creates a file from the bytes at an address.',
  query: ANSWER_SHAPE_QUERY_PARAMETER_REFS,
  body: describeJsonBody(
    objectSchema({ url: { ...TEXT_SCHEMA, format: 'uri' }, data: nullableSchema(FILE_SCHEMA) }, ['url']),
  ),
  answers: {
    ...describeDataAnswer(anyOfSchema(FILE_SCHEMA, listSchema(FILE_SCHEMA)), schemaRef('Meta')),
    ...NO_CONTENT_ANSWER_DESCRIPTION,
  },
  errors: FILE_ERROR_CODES,
  components: queryOpenApiComponents,
};

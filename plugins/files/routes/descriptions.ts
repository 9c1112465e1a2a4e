import type { ErrorCode } from '#kernel';
import type { JsonSchema, RouteDescription } from '../../http/contract.ts';
import {
  anyOf,
  dataAnswer,
  jsonBody,
  listOf,
  NO_CONTENT,
  nullable,
  objectOf,
  schemaRef,
  TEXT,
} from '../../http/library.ts';
import { itemOf, queryComponents, SHAPE_PARAMETERS, WRITE_ERRORS } from '../../items/library.ts';
import { FILES } from '../contract.ts';

const file = itemOf(FILES);

/** Codes of bytes that cannot become a file, and of rows that cannot be written. */
export const FILE_ERRORS: readonly ErrorCode[] = [...WRITE_ERRORS, 'OUT_OF_TIME'];

/** Fields of the row come before the bytes they belong to, as texts. */
const FORM: JsonSchema = { ...objectOf({ file: {} }), additionalProperties: TEXT };

/** The description of a route for JSON whose bytes may come in a form as well. */
export const orFormDescription = (description: RouteDescription, summary: string): RouteDescription => ({
  ...description,
  summary,
  body: { ...description.body, content: { ...description.body?.content, 'multipart/form-data': FORM } },
  errors: FILE_ERRORS,
});

export const CREATE = 'Creates files: the bytes of one or several in a form, or a row without bytes as JSON.';
export const CHANGE = 'Changes one file: other bytes and values in a form, or values as JSON.';

export const IMPORT: RouteDescription = {
  tag: 'files',
  access: 'permissions',
  summary: 'Creates a file from the bytes at an address.',
  query: SHAPE_PARAMETERS,
  body: jsonBody(objectOf({ url: { ...TEXT, format: 'uri' }, data: nullable(file) }, ['url'])),
  answers: { ...dataAnswer(anyOf(file, listOf(file)), schemaRef('Meta')), ...NO_CONTENT },
  errors: FILE_ERRORS,
  components: queryComponents,
};

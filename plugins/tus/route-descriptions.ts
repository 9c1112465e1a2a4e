import type { ErrorCode } from '#kernel';
import { FILE_ERROR_CODES } from '../files/library.ts';
import type { RouteDescription, SchemaByMediaType } from '../http/contract.ts';
import { describeParameter, errorsSchemaComponents, schemaRef } from '../http/library.ts';

const params = { id: describeParameter('The id of the upload, the last segment of Location.') };
const base = { tag: 'files', access: 'permissions', components: errorsSchemaComponents } as const;

/** Errors with codes of their own, whose status clients of the tus protocol depend on. */
const refusal: SchemaByMediaType = { 'application/json': schemaRef('Errors') };
const REFUSALS = { 409: refusal, 410: refusal, 412: refusal, 423: refusal };

const errors: readonly ErrorCode[] = [...FILE_ERROR_CODES, 'INVALID_METADATA', 'INVALID_PAYLOAD'];
const BYTES: SchemaByMediaType = { 'application/offset+octet-stream': {} };

export const TUS_CREATE_DESCRIPTION: RouteDescription = {
  ...base,
  summary: 'Begins a resumable upload by version 1.0.0 of the tus protocol; the body may be its first bytes.',
  body: { content: BYTES, required: false },
  answers: { 201: {}, ...REFUSALS },
  errors,
};

export const TUS_OFFSET_DESCRIPTION: RouteDescription = {
  ...base,
  params,
  summary: 'Answers in headers how many bytes of an upload have arrived.',
  answers: { 200: {}, ...REFUSALS },
  errors,
};

export const TUS_APPEND_DESCRIPTION: RouteDescription = {
  ...base,
  params,
  summary: 'Adds bytes to an upload; the last of them make the file.',
  body: { content: BYTES },
  answers: { 204: {}, ...REFUSALS },
  errors,
};

export const TUS_TERMINATE_DESCRIPTION: RouteDescription = {
  ...base,
  params,
  summary: 'Ends an upload and removes its bytes.',
  answers: { 204: {}, ...REFUSALS },
  errors,
};

/** The routes for OPTIONS, of the path without an id and with one. */
export const TUS_OPTIONS_DESCRIPTION: RouteDescription = {
  ...base,
  access: 'public',
  summary: 'Answers in headers what the service speaks of the tus protocol; refuses all other methods.',
  answers: { 200: {}, 204: {} },
  errors: ['METHOD_NOT_ALLOWED'],
};
export const TUS_OPTIONS_WITH_ID_DESCRIPTION: RouteDescription = { ...TUS_OPTIONS_DESCRIPTION, params };

import { fail } from '#kernel';
import type { Payload } from '../../items/contract.ts';

export interface FileImportRequest {
  readonly url: URL;
  readonly data: Payload;
}

/** Maximum characters of a URL. */
const MAX_URL_LENGTH = 8192;

/** Parses `{ url, data }` of a body or of GraphQL arguments. @throws INVALID_PAYLOAD. */
export function parseFileImportRequest(body: unknown): FileImportRequest {
  if (!isObject(body)) throw fail('INVALID_PAYLOAD', 'The body must be { url, data }.');
  const { url, data } = body;
  if (data !== undefined && data !== null && !isObject(data))
    throw fail('INVALID_PAYLOAD', '"data" must be an object.', { path: ['data'] });
  return { url: parseUrl(url), data: data ?? {} };
}

function parseUrl(text: unknown): URL {
  const isText = typeof text === 'string' && text.length <= MAX_URL_LENGTH;
  // URL.parse is lenient: it accepts `http:a` and spaces.
  const url = isText && /^https?:\/\/[^\s/]/i.test(text) ? URL.parse(text) : null;
  if (!url) throw fail('INVALID_PAYLOAD', '"url" must be an absolute address by http or https.', { path: ['url'] });
  // Credentials would show in logs and in the history of the file.
  if (url.username !== '' || url.password !== '')
    throw fail('INVALID_PAYLOAD', '"url" must not have credentials in it.', { path: ['url'] });
  return url;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

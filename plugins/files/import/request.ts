import { fail } from '#kernel';
import type { Payload } from '../../items/contract.ts';

export interface ImportRequest {
  readonly url: URL;
  readonly data: Payload;
}

/** Bytes of an address; longer ones are no addresses of files. */
const LONGEST = 8192;

/** `{ url, data }`, from a body or from the arguments of a field. INVALID_PAYLOAD for what is neither. */
export function importRequest(body: unknown): ImportRequest {
  if (!isObject(body)) throw fail('INVALID_PAYLOAD', 'The body must be { url, data }.');
  const { url, data } = body;
  if (data !== undefined && data !== null && !isObject(data))
    throw fail('INVALID_PAYLOAD', '"data" must be an object.', { path: ['data'] });
  return { url: addressOf(url), data: data ?? {} };
}

function addressOf(text: unknown): URL {
  const isText = typeof text === 'string' && text.length <= LONGEST;
  // Parsing is lenient: it takes `http:a` and spaces for parts of an address.
  const url = isText && /^https?:\/\/[^\s/]/i.test(text) ? URL.parse(text) : null;
  if (!url) throw fail('INVALID_PAYLOAD', '"url" must be an absolute address by http or https.', { path: ['url'] });
  // They would stand in logs and in the history of the file's name.
  if (url.username !== '' || url.password !== '')
    throw fail('INVALID_PAYLOAD', '"url" must not have credentials in it.', { path: ['url'] });
  return url;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

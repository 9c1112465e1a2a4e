import { fail } from '#kernel';
import { parseSigningKey } from '../delivery/webhook-signature.ts';
import { textOption } from './option-values.ts';

/** A request as the options of an operation describe it. */
export interface RequestMessage {
  readonly method: string;
  readonly url: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** The secret by which the request is signed, as Standard Webhooks write it. */
  readonly secret?: string;
}

/** Headers that belong to the connection, which the client of HTTP sets itself. */
const REFUSED_HEADERS = new Set(['connection', 'content-length', 'host', 'transfer-encoding', 'upgrade', 'expect']);
const METHOD = /^[A-Z]{1,20}$/;
/** Methods that may be sent twice without another effect. */
const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS']);

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

/** Headers as editors store them, a list of `{ header, value }`, or an object. */
function headersOf(option: unknown): Record<string, string> {
  const pairs = Array.isArray(option)
    ? option.filter(isObject).map(({ header, value }) => [header, value] as const)
    : isObject(option)
      ? Object.entries(option)
      : [];
  const headers: Record<string, string> = {};
  for (const [name, value] of pairs) {
    if (typeof name !== 'string' || value === undefined || value === null) continue;
    const key = name.toLowerCase().trim();
    if (!/^[!#$%&'*+.^_`|~0-9a-z-]+$/.test(key)) throw fail('INVALID_PAYLOAD', `"${name}" is not the name of a header`);
    const text = String(value);
    if (/[^\t\x20-\x7e\x80-\xff]/.test(text))
      throw fail('INVALID_PAYLOAD', `the value of the header "${name}" has invalid characters`);
    if (!REFUSED_HEADERS.has(key)) headers[key] = text;
  }
  return headers;
}

function bodyOf(option: unknown, headers: Record<string, string>): string | undefined {
  if (option === undefined || option === null || option === '') return undefined;
  const text = typeof option === 'string' ? option : JSON.stringify(option);
  if (headers['content-type'] === undefined && isJson(text)) headers['content-type'] = 'application/json';
  return text;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/**
 * The request that the rendered options of an operation describe. One that may change something has an `Idempotency-Key`.
 * @param key unique to the operation in its run, and equal where it runs again
 * @throws INVALID_PAYLOAD
 */
export function parseRequestOptions(
  options: Readonly<Record<string, unknown>>,
  key: string | undefined,
): RequestMessage {
  const url = textOption(options.url, 'url');
  if (!URL.canParse(url)) throw fail('INVALID_PAYLOAD', '"url" must be an absolute address');
  const method = String(options.method ?? 'GET').toUpperCase();
  if (!METHOD.test(method)) throw fail('INVALID_PAYLOAD', '"method" must be a method of HTTP');
  const headers = headersOf(options.headers);
  const body = bodyOf(options.body, headers);
  if (!SAFE_METHODS.has(method) && key !== undefined) headers['idempotency-key'] ??= key;
  const { secret } = options;
  const isSigned = secret !== undefined && secret !== null && secret !== '';
  if (isSigned) parseSigningKey(secret);
  return {
    method,
    url,
    headers: { 'user-agent': 'flow', accept: '*/*', ...headers },
    ...(body === undefined ? {} : { body }),
    ...(isSigned ? { secret: String(secret) } : {}),
  };
}

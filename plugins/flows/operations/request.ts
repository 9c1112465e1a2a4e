import { fail } from '#kernel';
import type { OutboundResponse, OutboundService } from '../../outbound/contract.ts';
import type { FlowOperationKind } from '../contract.ts';
import { textOption } from './option-values.ts';

/** Bounds of one request. */
export interface RequestLimits {
  /** Milliseconds for one exchange. */
  readonly timeout: number;
  /** Bytes of the longest accepted answer. */
  readonly maxBytes: number;
}

/** The answer to a request as data of the run. */
interface RequestResult {
  readonly status: number;
  readonly statusText: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly data: unknown;
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

function toResult({ status, headers, body }: OutboundResponse, statusText: string): RequestResult {
  const text = Buffer.from(body).toString('utf8');
  let data: unknown = text;
  if (/[/+]json\b/i.test(headers['content-type'] ?? '') || isJson(text)) {
    try {
      data = JSON.parse(text);
    } catch {
      // Answers that say they are JSON and are not stay texts.
    }
  }
  return { status, statusText, headers, data: text === '' ? null : data };
}

/**
 * `request`: one HTTP request to a public address; redirects are not followed. Resolves with the answer, and rejects with it where its status is 400
 * or more. A request that may change something has an `Idempotency-Key`, equal where a job runs the flow again.
 */
export const createRequestOperation = ({
  outbound,
  timeout,
  maxBytes,
}: RequestLimits & { readonly outbound: Pick<OutboundService, 'send'> }): FlowOperationKind => ({
  id: 'request',
  secretHeaders: 'headers',
  async run(options, { flow }) {
    const address = textOption(options.url, 'url');
    if (!URL.canParse(address)) throw fail('INVALID_PAYLOAD', '"url" must be an absolute address');
    const method = String(options.method ?? 'GET').toUpperCase();
    if (!METHOD.test(method)) throw fail('INVALID_PAYLOAD', '"method" must be a method of HTTP');
    const headers = headersOf(options.headers);
    const body = bodyOf(options.body, headers);
    if (!SAFE_METHODS.has(method) && flow && headers['idempotency-key'] === undefined)
      headers['idempotency-key'] = `${flow.run}-${flow.step}`.replace(/[^\x20-\x7e]/g, '_');
    const answer = await outbound.send({
      method,
      url: new URL(address),
      headers: { 'user-agent': 'flow', accept: '*/*', ...headers },
      ...(body === undefined ? {} : { body }),
      timeout,
      maxBytes,
    });
    // An import at the start would load the client behind `fetch`.
    const { STATUS_CODES } = await import('node:http');
    const result = toResult(answer, STATUS_CODES[answer.status] ?? '');
    if (answer.status >= 400) throw result;
    return result;
  },
});

import { ServerResponse, STATUS_CODES } from 'node:http';
import type { HttpContext } from '../../http/contract.ts';
import { type CookieOptions, renderCookie } from './cookie.ts';

/** A response for handlers of the form `(req, res, next)`: Node's own, with Express's usual members. */
export type ExpressLikeResponse = ServerResponse & { readonly [other: string]: unknown };

const CTX = Symbol('context');
interface Own extends ServerResponse {
  readonly [CTX]: HttpContext;
  status(code: number): Own;
  json(value: unknown): Own;
  append(name: string, value: string | readonly string[]): Own;
  location(url: string): Own;
}
type Value = string | number | readonly string[];

const EMPTY: readonly number[] = [204, 205, 304];
const JSON_TYPE = 'application/json; charset=utf-8';

/** Ends the answer with this body, or without one for HEAD and for statuses without a body. */
function finish(res: Own, body: string | Uint8Array, type: string): Own {
  if (EMPTY.includes(res.statusCode)) {
    for (const name of ['Content-Type', 'Content-Length', 'Transfer-Encoding']) res.removeHeader(name);
    res.end();
    return res;
  }
  if (!res.hasHeader('Content-Type')) res.setHeader('Content-Type', type);
  if (!res.hasHeader('Transfer-Encoding')) res.setHeader('Content-Length', Buffer.byteLength(body));
  if (res[CTX].method === 'HEAD') res.end();
  else res.end(body);
  return res;
}

const members = {
  status(this: Own, code: number) {
    this.statusCode = code;
    return this;
  },
  sendStatus(this: Own, code: number) {
    this.statusCode = code;
    return finish(this, STATUS_CODES[code] ?? String(code), 'text/plain; charset=utf-8');
  },
  json(this: Own, value: unknown) {
    return finish(this, JSON.stringify(value) ?? '', JSON_TYPE);
  },
  send(this: Own, value?: unknown) {
    if (value === undefined || value === null) return finish(this, '', JSON_TYPE);
    if (typeof value === 'string') return finish(this, value, 'text/html; charset=utf-8');
    if (value instanceof Uint8Array) return finish(this, value, 'application/octet-stream');
    return this.json(value);
  },
  set(this: Own, name: string | Readonly<Record<string, Value>>, value?: Value) {
    const all = typeof name === 'string' ? { [name]: value as Value } : name;
    for (const [key, one] of Object.entries(all)) this.setHeader(key, typeof one === 'number' ? String(one) : one);
    return this;
  },
  get(this: Own, name: string) {
    return this.getHeader(name);
  },
  append(this: Own, name: string, value: string | readonly string[]) {
    this.appendHeader(name, value);
    return this;
  },
  /** Sets Content-Type by `json`, `.html` or a whole media type. */
  type(this: Own, type: string) {
    if (type.includes('/')) this.setHeader('Content-Type', type);
    else this[CTX].type = type;
    return this;
  },
  vary(this: Own, names: string | string[]) {
    this[CTX].vary(names);
    return this;
  },
  attachment(this: Own, filename?: string) {
    this[CTX].attachment(filename);
    return this;
  },
  location(this: Own, url: string) {
    this.setHeader('Location', encodeUrl(url));
    return this;
  },
  /** `redirect(url)` or `redirect(status, url)`. */
  redirect(this: Own, first: number | string, second?: string) {
    const [status, url] = typeof first === 'number' ? [first, String(second)] : [302, first];
    this.location(url).status(status);
    this.removeHeader('Content-Type');
    return finish(this, `${STATUS_CODES[status] ?? status}. Redirecting.`, 'text/plain; charset=utf-8');
  },
  cookie(this: Own, name: string, value: unknown, options: CookieOptions = {}) {
    const text = typeof value === 'object' ? `j:${JSON.stringify(value)}` : String(value);
    return this.append('Set-Cookie', renderCookie(name, text, options));
  },
  clearCookie(this: Own, name: string, options: CookieOptions = {}) {
    const { maxAge: _maxAge, ...rest } = options;
    return this.append('Set-Cookie', renderCookie(name, '', { ...rest, expires: new Date(1) }));
  },
};

/** Encodes a URL; encoded characters and the brackets of IPv6 addresses stay as they are. */
const encodeUrl = (url: string): string =>
  encodeURI(url)
    .replace(/%25([0-9a-f]{2})/gi, '%$1')
    .replace(/%5B/g, '[')
    .replace(/%5D/g, ']');

const alias = (value: unknown): PropertyDescriptor => ({ value, writable: true, configurable: true });
const prototype = Object.create(ServerResponse.prototype, {
  ...Object.getOwnPropertyDescriptors(members),
  header: alias(members.set),
  contentType: alias(members.type),
});

/** Turns Node's response into an Express-like one. */
export function toExpressLikeResponse(ctx: HttpContext): ExpressLikeResponse {
  const res = Object.setPrototypeOf(ctx.res, prototype) as ServerResponse;
  return Object.assign(res, { [CTX]: ctx, locals: {} }) as unknown as ExpressLikeResponse;
}

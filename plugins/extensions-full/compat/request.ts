import { IncomingMessage } from 'node:http';
import type { HttpContext } from '../../http/contract.ts';
import type { Accountability } from '../caller-accountability.ts';

/** Members that the service adds to a request; functions are called at the first read of the member. */
export interface ExtensionRequestMembers {
  readonly ctx: HttpContext;
  readonly accountability: Accountability | null;
  readonly schema: () => unknown;
  readonly sanitizedQuery: () => unknown;
  readonly query: Record<string, unknown>;
  readonly body: unknown;
  readonly token: string | null;
  readonly ip: string | null;
}

/** A request for handlers of the form `(req, res, next)`: Node's own, with Express's usual members. */
export type ExpressLikeRequest = IncomingMessage & {
  url: string;
  originalUrl: string;
  baseUrl: string;
  params: Record<string, unknown>;
  readonly [other: string]: unknown;
};

const PARTS = Symbol('parts');
type Own = IncomingMessage & { readonly [PARTS]: ExtensionRequestMembers };

const members = {
  get(this: Own, name: string): string | string[] | undefined {
    const key = String(name).toLowerCase();
    const { headers } = this;
    return key === 'referer' || key === 'referrer' ? (headers.referrer ?? headers.referer) : headers[key];
  },
  is(this: Own, ...types: (string | string[])[]) {
    return this[PARTS].ctx.is(types.flat());
  },
  accepts(this: Own, ...types: (string | string[])[]) {
    return this[PARTS].ctx.accepts(types.flat());
  },
  get path(): string {
    const { url = '/' } = this as unknown as Own;
    const at = url.indexOf('?');
    return at === -1 ? url : url.slice(0, at);
  },
  get hostname(): string {
    return (this as unknown as Own)[PARTS].ctx.hostname;
  },
  get host(): string {
    return (this as unknown as Own)[PARTS].ctx.host;
  },
  get protocol(): string {
    return (this as unknown as Own)[PARTS].ctx.protocol;
  },
  get secure(): boolean {
    return (this as unknown as Own)[PARTS].ctx.secure;
  },
  get xhr(): boolean {
    return String((this as unknown as Own).headers['x-requested-with']).toLowerCase() === 'xmlhttprequest';
  },
  get fresh(): boolean {
    return (this as unknown as Own)[PARTS].ctx.fresh;
  },
  get stale(): boolean {
    return !(this as unknown as Own)[PARTS].ctx.fresh;
  },
};

const prototype = Object.create(IncomingMessage.prototype, {
  ...Object.getOwnPropertyDescriptors(members),
  header: { value: members.get, writable: true, configurable: true },
});

/** Turns Node's request into an Express-like one under `baseUrl`; `url` is the rest of the path. */
export function toExpressLikeRequest(parts: ExtensionRequestMembers, baseUrl: string, url: string): ExpressLikeRequest {
  const { ctx, accountability, query, body, token, ip } = parts;
  const req = Object.setPrototypeOf(ctx.req, prototype) as IncomingMessage;
  Object.assign(req, { [PARTS]: parts, originalUrl: ctx.originalUrl, baseUrl, url, params: {} });
  Object.assign(req, { accountability, query, body, token, ip, cookies: parseCookies(req) });
  defineLazy(req, 'schema', parts.schema);
  defineLazy(req, 'sanitizedQuery', parts.sanitizedQuery);
  return req as ExpressLikeRequest;
}

function defineLazy(target: object, name: string, make: () => unknown): void {
  const settle = (value: unknown) => Object.defineProperty(target, name, { value, writable: true, configurable: true });
  Object.defineProperty(target, name, {
    configurable: true,
    get() {
      const value = make();
      settle(value);
      return value;
    },
    set: settle,
  });
}

function parseCookies({ headers }: IncomingMessage): Record<string, string> {
  const pairs = (headers.cookie ?? '').split(';').flatMap((pair): [string, string][] => {
    const at = pair.indexOf('=');
    return at < 1 ? [] : [[pair.slice(0, at).trim(), decodeCookie(pair.slice(at + 1).trim())]];
  });
  // Of cookies with one name the first one counts, which has the longest path.
  return Object.fromEntries(pairs.reverse());
}

function decodeCookie(value: string): string {
  const text = value.startsWith('"') && value.endsWith('"') ? value.slice(1, -1) : value;
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

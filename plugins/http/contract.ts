import type { Context, ParameterizedContext } from 'koa';
import { facet, type RequestState, service } from '#kernel';
import type { RequestSettings } from './settings.ts';
import { StreamedAnswer } from './streamed-answer.ts';

export type Method = 'GET' | 'HEAD' | 'POST' | 'PATCH' | 'DELETE' | 'SEARCH';

/** A request inside a route: `state.caller` is set, `body` is parsed JSON or undefined. */
export type HttpContext = ParameterizedContext<
  RequestState & { body?: unknown; rawQuery?: Record<string, unknown>; settings?: RequestSettings },
  { readonly params: Readonly<Record<string, string>> }
>;

export interface Route {
  /** `*`: whatever method no other route of this path takes, to refuse it by name. Such a route is given no body. */
  readonly method: Method | '*';
  /** For example `/items/:collection/:id`. A trailing slash in a request is accepted. */
  readonly path: string;
  /** The route reads the body itself, whatever its type; without it JSON is parsed and other types are refused. */
  readonly body?: 'unread';
  /** Headers that scripts of other origins may send here and read of the answer, beside those of the settings. */
  readonly cors?: { readonly allowed: readonly string[]; readonly exposed: readonly string[] };
  handle(ctx: HttpContext): Promise<void> | void;
}

const under = (path: string, prefix: string) => path === prefix || path.startsWith(`${prefix}/`);

/** HTTP routes; the manifest section lists the path prefixes a plugin serves. */
export const routes = facet<Route, readonly { owner: string; value: Route }[]>('http.routes', {
  combine: (all) => all,
  manifest: {
    type: 'object',
    additionalProperties: false,
    required: ['prefixes'],
    properties: { prefixes: { type: 'array', minItems: 1, items: { type: 'string', pattern: '^/[a-z0-9/_-]*$' } } },
  },
  admit: (route, declared) =>
    declared.prefixes.some((prefix: string) => under(route.path, prefix)) ||
    `${route.path} is under no declared prefix`,
  describe: (declared) => [`serves ${[...declared.prefixes].sort().join(', ')}`],
});

/** For routes that come and go while the service runs, and stand behind all others. */
export interface Routing {
  /** First segments of the paths of the product's own routes, in lower case: nobody else can be reached under them. */
  segments(): ReadonlySet<string>;
  /** The JSON body of a request, read within the same limits as for routes; undefined when it has none. */
  readBody(ctx: Context, options?: ReadBodyOptions): Promise<unknown>;
}

export interface ReadBodyOptions {
  /** A text, a number, true, false and null will do as well as an object or a list. */
  readonly scalars?: boolean;
}

export const routing = service<Routing>('routing', { version: '1.0.0' });

/** Parsed JSON body, or undefined when the request had none. */
export const bodyOf = (ctx: HttpContext): unknown => ctx.state.body;

/** Who is asking, before anybody is known: address (behind trusted proxies the client's own), user agent, origin. */
export { addressOf, clientOf } from './client.ts';
/** What an object or array of a request may look like, wherever in it it stands: INVALID_PAYLOAD for what may not. */
export { checkJson } from './json.ts';
/** The query string with brackets resolved (`filter[a][_eq]=1`); depth and list length are limited. */
export { parseQueryString, rawQueryOf } from './query-string.ts';

/** `{ data: <value> }`, or 204 without a body for undefined. */
export function sendData(ctx: HttpContext, value: unknown, meta?: unknown): void {
  if (value === undefined) {
    ctx.status = 204;
    return;
  }
  sendJson(ctx, JSON.stringify(value), meta === undefined ? undefined : JSON.stringify(meta));
}

/** Splices JSON text that PostgreSQL made into the envelope, untouched. */
export function sendJson(ctx: HttpContext, data: string, meta?: string): void {
  ctx.status = 200;
  ctx.type = 'application/json; charset=utf-8';
  ctx.body = meta === undefined ? `{"data":${data}}` : `{"data":${data},"meta":${meta}}`;
}

export interface StreamOptions {
  /** With `charset` where it is text. */
  readonly type: string;
  /** Makes it a download under this name. */
  readonly download?: string;
}

/**
 * Sends what is made meanwhile, a part when the client took the one before. The first part is waited for: what fails
 * before it is an ordinary error. Later errors break the connection. `parts` is always ended by its `return` where it
 * does not end by itself, also for `HEAD`, which gets the headers alone.
 */
export async function sendStream(
  ctx: HttpContext,
  parts: AsyncIterable<string | Uint8Array>,
  { type, download }: StreamOptions,
): Promise<void> {
  const iterator = parts[Symbol.asyncIterator]();
  const first = await iterator.next();
  ctx.status = 200;
  if (download !== undefined) ctx.attachment(download);
  ctx.set('Content-Type', type);
  if (ctx.method === 'HEAD') {
    await iterator.return?.();
    return;
  }
  ctx.body = new StreamedAnswer(first, iterator, ctx.state.settings as RequestSettings);
}

import type { HttpContext } from './contract.ts';
import type { RequestSettings } from './settings.ts';
import { StreamedResponse } from './streamed-response.ts';

/** Parsed JSON body, or undefined when the request had none. */
export const bodyOf = (ctx: HttpContext): unknown => ctx.state.body;

/** Who is asking, before anybody is known: address (behind trusted proxies the client's own), user agent, origin. */
export { addressOf, clientOf } from './client.ts';
/** The signal that the client of a request is gone, made when it is asked for. */
export { clientSignal } from './client-scope.ts';
/** Pieces of which descriptions of routes are made, and what follows from a description. */
export {
  ANYTHING,
  anyOf,
  BOOLEAN,
  dataAnswer,
  ERRORS_SCHEMA,
  envelopeOf,
  errorComponents,
  errorsOf,
  exactObject,
  INTEGER,
  jsonBody,
  listOf,
  NO_CONTENT,
  nullable,
  objectOf,
  oneOfTexts,
  parameter,
  parameterRef,
  paramsIn,
  RECORD,
  requiredParameter,
  schemaRef,
  TEXT,
} from './route-description.ts';
/** Whether a parsed body is what a description accepts. */
export { fitsBody } from './is-valid-body.ts';
/** What an object or array of a request may look like, wherever in it it stands: INVALID_PAYLOAD for what may not. */
export { checkJson } from './json.ts';
/** Warns of members of a query in a body that no parameter is called like, or refuses them, as is done with a query string. */
export function checkQueryNames(ctx: HttpContext, query: object, known: ReadonlySet<string>): void {
  const names = Object.keys(query).filter((name) => !known.has(name));
  ctx.state.settings?.parameters.check(ctx, names, known);
}
/** The query string with brackets resolved (`filter[a][_eq]=1`); depth and list length are limited. */
export { parseQueryString, rawQueryOf } from './query-string.ts';
/** A failure with a status, code and message of its own. */
export { StatedFailure } from './custom-failure.ts';

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
  ctx.body = new StreamedResponse(first, iterator, ctx.state.settings as RequestSettings);
}

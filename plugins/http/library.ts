import type { HttpContext } from './contract.ts';
import type { RequestSettings } from './settings.ts';
import { StreamedResponse } from './streamed-response.ts';

/** The parsed JSON body; undefined for a request without one. */
export const bodyOf = (ctx: HttpContext): unknown => ctx.state.body;

/** The client before authentication: address (behind trusted proxies the real one), user agent, origin. */
export { bodyMemoryHolderOf, clientAddressOf, clientInfoOf } from './client-address-and-info.ts';
/** The signal that the client of a request disconnected, created on first use. */
export { createDisconnectSignalGetter } from './client-disconnect-signal.ts';
/** Whether a parsed body matches the schema of a route description. */
export { hasBodyMatchingRouteSchema } from './is-valid-body.ts';
/** The context behind the request or the response of an event. */
export { contextOfEvent, RequestOfEvent } from './request-of-event.ts';
/** The entity tag that an answer of JSON gets; the Content-Security-Policy of a page, with what an admin adds to it. */
export { entityTagOf, setContentSecurityPolicy } from './response-headers.ts';
/** Parts of route descriptions, and functions over descriptions. */
export {
  ANY_VALUE_SCHEMA,
  anyOfSchema,
  BOOLEAN_SCHEMA,
  dataEnvelopeSchema,
  describeDataAnswer,
  describeJsonBody,
  describeParameter,
  describeRequiredParameter,
  ERRORS_SCHEMA,
  enumSchema,
  errorCodesOf,
  errorsSchemaComponents,
  exactObjectSchema,
  INTEGER_SCHEMA,
  listSchema,
  NO_CONTENT_ANSWER_DESCRIPTION,
  nullableSchema,
  objectSchema,
  parameterRef,
  pathParameterNames,
  RECORD_SCHEMA,
  schemaRef,
  TEXT_SCHEMA,
} from './route-description-builders.ts';
/** Checks nesting and NUL characters of parsed JSON from any part of a request. @throws INVALID_PAYLOAD */
export { assertStorableJson } from './storable-json.ts';
/**
 * Treats unknown members of a query in a body like unknown parameters of a query string.
 * @throws INVALID_QUERY in mode `refuse`.
 */
export function checkUnknownQueryMembers(ctx: HttpContext, query: object, known: ReadonlySet<string>): void {
  const names = Object.keys(query).filter((name) => !known.has(name));
  ctx.state.settings?.parameters.check(ctx, names, known);
}
/** What admins add to Content-Security-Policies, for plugins with a setting of their own for that. */
export {
  addPolicySources,
  allowsFrames,
  type PolicyAdditions,
  parsePolicyAdditions,
} from './content-security-policy.ts';
/** A failure with a status, code and message of its own. */
export { CustomFailure } from './custom-failure.ts';
/** The failure of an error that a listener answered. */
export { toCustomFailure } from './error-filters.ts';
/** The query string as nested objects (`filter[a][_eq]=1`), within limits of depth, list length and parameters. */
export { parsedQueryStringOf, parseQueryString } from './query-string.ts';
/** The members of a body that are texts. @throws INVALID_PAYLOAD */
export { parseTextFields, type TextFields } from './text-fields.ts';

/** Answers 200 with `{ data: <value> }`, and `meta` if set; 204 without a body for undefined. */
export function sendData(ctx: HttpContext, value: unknown, meta?: unknown): void {
  if (value === undefined) {
    ctx.status = 204;
    return;
  }
  sendJsonTextInEnvelope(ctx, JSON.stringify(value), meta === undefined ? undefined : JSON.stringify(meta));
}

/** Puts JSON text of PostgreSQL unchanged into the envelope `{ data, meta }`. */
export function sendJsonTextInEnvelope(ctx: HttpContext, data: string, meta?: string): void {
  ctx.status = 200;
  ctx.type = 'application/json; charset=utf-8';
  ctx.body = meta === undefined ? `{"data":${data}}` : `{"data":${data},"meta":${meta}}`;
}

export interface StreamOptions {
  /** Content-Type, with `charset` for text. */
  readonly type: string;
  /** Sends a download with this file name. */
  readonly download?: string;
}

/**
 * Streams `parts`: the next part is produced when the client has received the one before. An error before the first
 * part is answered like any other; a later one breaks the connection, so that no client takes half a response for a
 * whole one. `parts.return` is always called where the iterator does not end by itself, also for `HEAD`, which gets the
 * headers only.
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
  const settings = ctx.state.settings as RequestSettings;
  ctx.body = new StreamedResponse(first, iterator, { idleTimeout: settings.idleTimeout, log: settings.log });
}

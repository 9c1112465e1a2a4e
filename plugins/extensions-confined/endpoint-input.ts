import { Failure, fail } from '#kernel';
import type { HttpContext, RoutingService } from '../http/contract.ts';
import { parsedQueryStringOf } from '../http/library.ts';
import type { ExchangeValidator } from './exchange-validator.ts';

export const ENDPOINT_METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'] as const;

/** Limits of a handler's input (conventions, "Endpoint input and output"). */
const MAX_PATH = 2048;
const MAX_KEYS = 64;
const MAX_VALUE = 2048;
const MAX_BODY = 1024 * 1024;

/**
 * Renders the input of an endpoint's handler as JSON: `{ method, path, query, body }`, and nothing else of the request. `path` is
 * what follows the mount, as it was sent.
 * @throws INVALID_PAYLOAD for input outside of the limits or against the declared schema; METHOD_NOT_ALLOWED.
 */
export async function renderEndpointInput(
  ctx: HttpContext,
  mount: string,
  readBody: RoutingService['readBody'],
  validate: ExchangeValidator | undefined,
): Promise<string> {
  const { method } = ctx;
  if (!(ENDPOINT_METHODS as readonly string[]).includes(method)) {
    throw fail('METHOD_NOT_ALLOWED', `${method} is not allowed here.`, { allow: [...ENDPOINT_METHODS] });
  }
  const path = cutMount(ctx.path, mount);
  const query = parseQuery(ctx);
  const parsed = (await readBodyAsJson(ctx, readBody)) ?? null;
  const body = JSON.stringify(parsed);
  const size = Buffer.byteLength(body);
  if (size > MAX_BODY) throw fail('INVALID_PAYLOAD', `The body has ${size} bytes, more than the ${MAX_BODY} allowed.`);
  const mismatch = validate?.({ method, path, query, body: parsed });
  if (mismatch) throw fail('INVALID_PAYLOAD', mismatch.message, { path: mismatch.path });
  return `{"method":"${method}","path":${JSON.stringify(path)},"query":${JSON.stringify(query)},"body":${body}}`;
}

/** Reads the body as any JSON value. A body that is too large or has another media type is INVALID_PAYLOAD. */
async function readBodyAsJson(ctx: HttpContext, readBody: RoutingService['readBody']): Promise<unknown> {
  if (ctx.is('multipart')) throw fail('INVALID_PAYLOAD', 'The body must be JSON.');
  try {
    return await readBody(ctx as never, { scalars: true });
  } catch (error) {
    const isOutside = error instanceof Failure && ['CONTENT_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE'].includes(error.code);
    throw isOutside ? fail('INVALID_PAYLOAD', error.message) : error;
  }
}

/** Cuts the one or two segments of the mount, which a request may write with other case or encoding. */
function cutMount(path: string, mount: string): string {
  const below = `/${path.split('/').slice(mount.split('/').length).join('/')}`;
  if (below.length > MAX_PATH)
    throw fail('INVALID_PAYLOAD', `The path has ${below.length} characters, more than the ${MAX_PATH} allowed.`);
  return below;
}

/** Parses the query into names and values as text, without `access_token`: the token is for the service only. */
function parseQuery(ctx: HttpContext): Readonly<Record<string, string>> {
  const query: Record<string, string> = { __proto__: null } as never;
  let count = 0;
  for (const [key, value] of Object.entries(readRawQuery(ctx))) {
    if (key === 'access_token') continue;
    if (typeof value !== 'string')
      throw fail('INVALID_PAYLOAD', 'Each parameter of the query has one value, which is text.');
    if (++count > MAX_KEYS)
      throw fail('INVALID_PAYLOAD', `The query has more than the ${MAX_KEYS} parameters allowed.`);
    if (key.length > MAX_VALUE || value.length > MAX_VALUE) {
      throw fail(
        'INVALID_PAYLOAD',
        `A parameter of the query has ${Math.max(key.length, value.length)} characters, more than the ${MAX_VALUE} allowed.`,
      );
    }
    query[key] = value;
  }
  return query;
}

function readRawQuery(ctx: HttpContext): Readonly<Record<string, unknown>> {
  try {
    return parsedQueryStringOf(ctx);
  } catch (error) {
    if (error instanceof Failure && error.code === 'INVALID_QUERY') throw fail('INVALID_PAYLOAD', error.message);
    throw error;
  }
}

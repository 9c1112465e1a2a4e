import { Failure, fail } from '#kernel';
import type { HttpContext, Routing } from '../http/contract.ts';
import { rawQueryOf } from '../http/library.ts';

export const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'] as const;

/** Bounds of what a handler is given (conventions, "Endpoint input and output"). */
const MAX_PATH = 2048;
const MAX_KEYS = 64;
const MAX_VALUE = 2048;
const MAX_BODY = 1024 * 1024;

/**
 * The handler's input as JSON: `{ method, path, query, body }`, and nothing else of the request. INVALID_PAYLOAD for what
 * is outside of the bounds; METHOD_NOT_ALLOWED. `path` is what follows the mount, as it was sent.
 */
export async function renderInput(ctx: HttpContext, mount: string, readBody: Routing['readBody']): Promise<string> {
  const { method } = ctx;
  if (!(METHODS as readonly string[]).includes(method)) {
    throw fail('METHOD_NOT_ALLOWED', `${method} is not allowed here.`, { allow: [...METHODS] });
  }
  const path = cutMount(ctx.path, mount);
  const query = parseQuery(ctx);
  const body = JSON.stringify((await readBodyAsJson(ctx, readBody)) ?? null);
  const size = Buffer.byteLength(body);
  if (size > MAX_BODY) throw fail('INVALID_PAYLOAD', `The body has ${size} bytes, more than the ${MAX_BODY} allowed.`);
  return `{"method":"${method}","path":${JSON.stringify(path)},"query":${JSON.stringify(query)},"body":${body}}`;
}

/** Anything that JSON can say. What is no JSON or too long is outside of the bounds like everything else. */
async function readBodyAsJson(ctx: HttpContext, readBody: Routing['readBody']): Promise<unknown> {
  if (ctx.is('multipart')) throw fail('INVALID_PAYLOAD', 'The body must be JSON.');
  try {
    return await readBody(ctx as never, { scalars: true });
  } catch (error) {
    const isOutside = error instanceof Failure && ['CONTENT_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE'].includes(error.code);
    throw isOutside ? fail('INVALID_PAYLOAD', error.message) : error;
  }
}

/** A mount of one or two segments, which a request may have written in other letters or encoded. */
function cutMount(path: string, mount: string): string {
  const below = `/${path.split('/').slice(mount.split('/').length).join('/')}`;
  if (below.length > MAX_PATH)
    throw fail('INVALID_PAYLOAD', `The path has ${below.length} characters, more than the ${MAX_PATH} allowed.`);
  return below;
}

/** Names and values as text. The token that a request may carry here is nobody's business but the service's. */
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
    return rawQueryOf(ctx);
  } catch (error) {
    if (error instanceof Failure && error.code === 'INVALID_QUERY') throw fail('INVALID_PAYLOAD', error.message);
    throw error;
  }
}

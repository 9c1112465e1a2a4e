import type { Context, Next } from 'koa';
import { fail } from '#kernel';
import type { Routing } from './contract.ts';
import { checkJson } from './json.ts';

/** Milliseconds for all of a JSON body: its size is limited, so one that takes longer is not meant well. */
const TIME_LIMIT = 300_000;
const METHODS: readonly string[] = ['POST', 'PUT', 'PATCH', 'DELETE', 'SEARCH'];

export type ReadBody = Routing['readBody'];
type Parser = (ctx: Context, next: Next) => Promise<void>;

/**
 * Reads JSON bodies by koa-body, which is loaded with the first of them: it brings parsers for forms and uploads that
 * take twenty megabytes. Multipart bodies are left unread for the routes that take them.
 */
export function createBodyReader(limit: number, timeLimit = TIME_LIMIT): ReadBody {
  let parser: Promise<Parser> | undefined;
  const load = async (): Promise<Parser> => {
    const { koaBody } = await import('koa-body');
    return koaBody({ jsonLimit: limit, jsonStrict: false, includeUnparsed: true }) as unknown as Parser;
  };

  return async (ctx, { scalars = false } = {}) => {
    if (!METHODS.includes(ctx.method) || !hasBody(ctx) || !isJson(ctx)) return undefined;
    parser ??= load();
    const parse = await parser;
    const request: { body?: unknown; rawBody?: string } = {};
    // Answering would wait for the rest as well.
    const late = setTimeout(() => ctx.req.destroy(), timeLimit);
    // What unpacks a body stands between: it is not told that no more of it comes, and would be waited for for ever.
    const cut = Promise.withResolvers<never>();
    const gone = () => cut.reject(new Error('request aborted'));
    ctx.req.once('aborted', gone);
    if (ctx.req.destroyed) gone();
    try {
      await Promise.race([parse(derived(ctx, request), async () => {}), cut.promise]);
    } catch (error) {
      // The client is still sending: it reads our answer once its own words are taken off the line.
      ctx.req.unpipe();
      ctx.req.resume();
      throw refusal(error, limit, ctx.req.headers['content-length']);
    } finally {
      clearTimeout(late);
      ctx.req.off('aborted', gone);
    }
    if (request.rawBody === '' || request.rawBody === undefined) return undefined;
    checkBody(request.body, request.rawBody, scalars);
    return request.body;
  };
}

export const hasBody = ({ req }: Context): boolean =>
  req.headers['transfer-encoding'] !== undefined || Number(req.headers['content-length'] ?? 0) > 0;

/** No type at all is taken for JSON, which the parser will judge. */
function isJson(ctx: Context): boolean {
  const type = ctx.req.headers['content-type'];
  if (type === undefined || ctx.is('json', '+json')) return true;
  if (ctx.is('multipart')) return false;
  throw fail('UNSUPPORTED_MEDIA_TYPE', 'The body must be JSON.', { mediaType: type, where: 'body' });
}

/** koa-body knows neither SEARCH nor bodies without a type, so it is shown a request that has nothing unusual. */
const derived = (ctx: Context, request: object): Context =>
  ({ req: ctx.req, request, method: 'POST', is: (types: string[]) => types.includes('application/json') }) as never;

function refusal(error: unknown, limit: number, length: string | undefined) {
  const { status, message } = error as { status?: number; message?: string };
  if (status === 413) {
    // What came packed, or in parts, has no size yet, or another one than it will have.
    const size = Number(length) > limit ? `has ${Number(length)} bytes, more than` : 'is larger than';
    return fail('CONTENT_TOO_LARGE', `The body ${size} the ${limit} allowed (MAX_PAYLOAD_SIZE).`, { limit });
  }
  if (status === 415) return fail('UNSUPPORTED_MEDIA_TYPE', message, { where: 'body' });
  return fail('INVALID_PAYLOAD', message);
}

function checkBody(body: unknown, text: string, scalars: boolean): void {
  const isScalar = body === null || typeof body !== 'object';
  if (isScalar && !scalars) throw fail('INVALID_PAYLOAD', 'The body must be an object or an array.');
  checkJson(body, text, 'The body');
}

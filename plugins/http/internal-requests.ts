import { createRequire } from 'node:module';
import { fail } from '#kernel';
import type { HttpContext, InternalRequest, InternalRequests } from './contract.ts';
import type { FindRoute } from './router.ts';
import { assertStorableJson } from './storable-json.ts';

// An import of `node:http` would load its HTTP client of 13 MB; `require` loads what is used.
const { IncomingMessage, ServerResponse } = createRequire(import.meta.url)('node:http') as typeof import('node:http');

/** Headers of the outer request that describe its own body, credentials and cached copies. */
const HEADERS_OF_OUTER_REQUEST = [
  'authorization',
  'content-encoding',
  'content-length',
  'content-type',
  'if-match',
  'if-modified-since',
  'if-none-match',
  'if-range',
  'range',
  'transfer-encoding',
];

interface Deps {
  readonly findRoute: FindRoute;
  /** Bodies that are parsed already, by the request they belong to. */
  readonly bodies: WeakMap<object, Promise<unknown>>;
}

/**
 * Runs a route for a plugin that answers a request by it. Layers around requests have run for the outer request: limits count once, and
 * the client's address, user agent and cookies are those of the outer request. The answer is kept apart from the outer one.
 */
export const createInternalRequests = ({ findRoute, bodies }: Deps): InternalRequests => ({
  has: (method, path) => findRoute(method, path) !== undefined,

  async send(ctx, request) {
    const { method, path, body } = request;
    const match = findRoute(method, path.split('?', 1)[0] as string);
    if (!match) throw fail('ROUTE_NOT_FOUND', `Route ${path} doesn't exist.`);
    assertStorableJson(body ?? null, JSON.stringify(body ?? null), 'The body');
    const inner = createInnerContext(ctx, request);
    bodies.set(inner.req, Promise.resolve(body));
    await match.route.handle(Object.assign(inner, { params: match.params }));
    const cookies = [inner.res.getHeader('Set-Cookie') ?? []].flat().map(String);
    return { status: inner.status, body: parseAnswer(inner), cookies };
  },
});

function createInnerContext(ctx: HttpContext, { method, path, body, caller }: InternalRequest): HttpContext {
  const headers = { ...ctx.req.headers };
  for (const name of HEADERS_OF_OUTER_REQUEST) delete headers[name];
  const req = Object.assign(new IncomingMessage(ctx.req.socket), { method, url: path, headers, complete: true });
  const inner = ctx.app.createContext(req, new ServerResponse(req)) as unknown as HttpContext;
  const { state } = ctx;
  const { requestId, settings, usesStaticToken } = state;
  const who = caller ? { caller } : { caller: state.caller, usesStaticToken };
  Object.defineProperty(inner, 'state', { value: { requestId, settings, body, ...who } });
  return inner;
}

/** The parsed JSON of an answer; undefined for an answer of another type, such as a redirect. */
function parseAnswer({ body, type }: HttpContext): unknown {
  if (typeof body !== 'string') return body === undefined || body === null ? undefined : structuredClone(body);
  return type.endsWith('json') && body !== '' ? JSON.parse(body) : undefined;
}

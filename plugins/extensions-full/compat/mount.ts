import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type Router from 'router';
import type { ExtensionMount } from '../../extensions/contract.ts';
import type { HttpContext } from '../../http/contract.ts';
import { clientAddressOf, parsedQueryStringOf } from '../../http/library.ts';
import { toAccountability } from '../caller-accountability.ts';
import { toServiceFailure } from '../extension-error-mapping.ts';
import type { ExtensionRuntime } from '../extension-runtime.ts';
import { toPlainSchema } from '../plain-schema.ts';
import { type ExtensionRequestMembers, toExpressLikeRequest } from './request.ts';
import { toExpressLikeResponse } from './response.ts';
import { sanitizeQuery } from './sanitized-query.ts';

type RouterOutcome = 'answered' | 'unmatched' | { readonly error: unknown };

/** A router under a path. A request that no route of it matches is passed to the next handler. */
export function createRouterMount(runtime: ExtensionRuntime, path: string, router: Router.Router): ExtensionMount {
  return {
    path,
    owner: runtime.name,
    confined: false,
    async handle(ctx, next) {
      const parts = await createExtensionRequestMembers(runtime, ctx);
      // The client disconnected while the body was read.
      if (ctx.res.closed) return detachKoa(ctx);
      const outcome = await runRouter(runtime, ctx, parts, path, router);
      if (outcome === 'answered') return detachKoa(ctx);
      if (outcome === 'unmatched') return next();
      throw toServiceFailure(outcome.error);
    },
  };
}

/** Koa must not respond: the handler has answered. */
function detachKoa(ctx: HttpContext): void {
  ctx.respond = false;
}

export async function createExtensionRequestMembers(
  { deps }: ExtensionRuntime,
  ctx: HttpContext,
): Promise<ExtensionRequestMembers> {
  const schemaSnapshot = await deps.schema.snapshot();
  const query = { ...parsedQueryStringOf(ctx) };
  return {
    ctx,
    query,
    accountability: toAccountability(ctx.state.caller),
    schema: () => toPlainSchema(schemaSnapshot),
    sanitizedQuery: () => sanitizeQuery(query, deps.query.ceilings),
    // The handler reads other bodies itself.
    body: ctx.is('json', '+json') ? await readBody(deps, ctx) : {},
    token: readToken(ctx, query),
    ip: clientAddressOf(ctx),
  };
}

const bodies = new WeakMap<object, Promise<unknown>>();

/** Reads the body once for all handlers under one path. */
async function readBody({ routing }: ExtensionRuntime['deps'], ctx: HttpContext): Promise<unknown> {
  const pendingBody = bodies.get(ctx.req) ?? routing.readBody(ctx as never);
  bodies.set(ctx.req, pendingBody);
  const body = await pendingBody;
  ctx.state.body ??= body;
  return body ?? {};
}

function readToken({ req }: HttpContext, { access_token: queryToken }: Record<string, unknown>): string | null {
  const [, token] = /^bearer (\S+)$/i.exec(req.headers.authorization ?? '') ?? [];
  return token ?? (typeof queryToken === 'string' && queryToken !== '' ? queryToken : null);
}

/** Splits the path at the mount; the rest is as it was sent. */
function splitPath(ctx: HttpContext, path: string): readonly [base: string, rest: string] {
  const depth = path.split('/').length;
  const segments = ctx.path.split('/');
  return [segments.slice(0, depth).join('/'), `/${segments.slice(depth).join('/')}${ctx.search}`];
}

async function runRouter(
  runtime: ExtensionRuntime,
  ctx: HttpContext,
  parts: ExtensionRequestMembers,
  path: string,
  router: Router.Router,
): Promise<RouterOutcome> {
  const { req, res } = ctx;
  const { url } = req;
  const before = { headers: { ...res.getHeaders() }, status: res.statusCode };
  const [base, rest] = splitPath(ctx, path);
  const request = toExpressLikeRequest(parts, base, rest);
  const response = toExpressLikeResponse(ctx);
  res.statusCode = 200;
  try {
    const outcome = await dispatch(runtime, router, request as never, response as never);
    if (outcome === 'answered') return outcome;
    if (res.headersSent) {
      // The client must not take a partial answer for a complete one.
      runtime.log.error({ err: typeof outcome === 'object' ? outcome.error : undefined }, 'an answer broke off');
      res.destroy();
      return 'answered';
    }
    res.statusCode = before.status;
    if (outcome !== 'unmatched') restoreHeaders(res, before.headers);
    return outcome;
  } finally {
    req.url = url;
  }
}

function dispatch(
  runtime: ExtensionRuntime,
  router: Router.Router,
  req: never,
  res: ServerResponse,
): Promise<RouterOutcome> {
  return new Promise((resolve) => {
    let settled = false;
    const settle = (outcome: RouterOutcome) => {
      settled = true;
      resolve(outcome);
    };
    const answered = () => settle('answered');
    res.once('finish', answered);
    res.once('close', answered);
    // A write after the end of an answer must not end the process.
    res.on('error', (error) => runtime.log.warn({ err: error }, 'an answer could not be written'));
    router(req, res as never, (error?: unknown) => {
      if (settled && error) runtime.log.error({ err: error }, 'a handler failed after its answer');
      else settle(error ? { error } : 'unmatched');
    });
  });
}

/** Removes the headers that the failed answer had set, before the error is answered. */
function restoreHeaders(res: ServerResponse, headers: OutgoingHttpHeaders): void {
  for (const name of res.getHeaderNames()) if (!(name in headers)) res.removeHeader(name);
  for (const [name, value] of Object.entries(headers)) if (value !== undefined) res.setHeader(name, value);
}

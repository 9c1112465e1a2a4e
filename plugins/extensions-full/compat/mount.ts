import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type Router from 'router';
import type { ExtensionMount } from '../../extensions/contract.ts';
import type { HttpContext } from '../../http/contract.ts';
import { addressOf, rawQueryOf } from '../../http/library.ts';
import { accountabilityOf } from '../caller.ts';
import { asFailure } from '../failure.ts';
import type { Kit } from '../kit.ts';
import { plainSchema } from '../overview.ts';
import { asRequest, type RequestParts } from './request.ts';
import { asResponse } from './response.ts';
import { sanitizedQuery } from './sanitized-query.ts';

type Outcome = 'answered' | 'unmatched' | { readonly error: unknown };

/** A router under a path. Where no route of it matches, the request is left to whoever stands behind. */
export function routerMount(kit: Kit, path: string, router: Router.Router): ExtensionMount {
  return {
    path,
    owner: kit.name,
    confined: false,
    async handle(ctx, next) {
      const parts = await partsOf(kit, ctx);
      // Whoever left meanwhile is not waited for.
      if (ctx.res.closed) return leave(ctx);
      const outcome = await run(kit, ctx, parts, path, router);
      if (outcome === 'answered') return leave(ctx);
      if (outcome === 'unmatched') return next();
      throw asFailure(outcome.error);
    },
  };
}

/** Koa has nothing left to say. */
function leave(ctx: HttpContext): void {
  ctx.respond = false;
}

export async function partsOf({ deps }: Kit, ctx: HttpContext): Promise<RequestParts> {
  const overview = await deps.schema.overview();
  const query = { ...rawQueryOf(ctx) };
  return {
    ctx,
    query,
    accountability: accountabilityOf(ctx.state.caller),
    schema: () => plainSchema(overview),
    sanitizedQuery: () => sanitizedQuery(query, deps.query.ceilings),
    // Other bodies are left for the handler to read.
    body: ctx.is('json', '+json') ? await bodyOf(deps, ctx) : {},
    token: tokenOf(ctx, query),
    ip: addressOf(ctx),
  };
}

const bodies = new WeakMap<object, Promise<unknown>>();

/** Read once, whoever of those under one path answers. */
async function bodyOf({ routing }: Kit['deps'], ctx: HttpContext): Promise<unknown> {
  const reading = bodies.get(ctx.req) ?? routing.readBody(ctx as never);
  bodies.set(ctx.req, reading);
  const body = await reading;
  ctx.state.body ??= body;
  return body ?? {};
}

function tokenOf({ req }: HttpContext, { access_token: asked }: Record<string, unknown>): string | null {
  const [, token] = /^bearer (\S+)$/i.exec(req.headers.authorization ?? '') ?? [];
  return token ?? (typeof asked === 'string' && asked !== '' ? asked : null);
}

/** The part of a path below a mount, as it was sent. */
function split(ctx: HttpContext, path: string): readonly [base: string, rest: string] {
  const depth = path.split('/').length;
  const segments = ctx.path.split('/');
  return [segments.slice(0, depth).join('/'), `/${segments.slice(depth).join('/')}${ctx.search}`];
}

async function run(
  kit: Kit,
  ctx: HttpContext,
  parts: RequestParts,
  path: string,
  router: Router.Router,
): Promise<Outcome> {
  const { req, res } = ctx;
  const { url } = req;
  const before = { headers: { ...res.getHeaders() }, status: res.statusCode };
  const [base, rest] = split(ctx, path);
  const request = asRequest(parts, base, rest);
  const response = asResponse(ctx);
  res.statusCode = 200;
  try {
    const outcome = await dispatch(kit, router, request as never, response as never);
    if (outcome === 'answered') return outcome;
    if (res.headersSent) {
      // Half an answer must not be taken for a whole one.
      kit.log.error({ err: typeof outcome === 'object' ? outcome.error : undefined }, 'an answer broke off');
      res.destroy();
      return 'answered';
    }
    res.statusCode = before.status;
    if (outcome !== 'unmatched') restore(res, before.headers);
    return outcome;
  } finally {
    req.url = url;
  }
}

function dispatch(kit: Kit, router: Router.Router, req: never, res: ServerResponse): Promise<Outcome> {
  return new Promise((resolve) => {
    let settled = false;
    const settle = (outcome: Outcome) => {
      settled = true;
      resolve(outcome);
    };
    const answered = () => settle('answered');
    res.once('finish', answered);
    res.once('close', answered);
    // What is written to an answer that is over must not end the process.
    res.on('error', (error) => kit.log.warn({ err: error }, 'an answer could not be written'));
    router(req, res as never, (error?: unknown) => {
      if (settled && error) kit.log.error({ err: error }, 'a handler failed after its answer');
      else settle(error ? { error } : 'unmatched');
    });
  });
}

/** What an answer was to look like says nothing about the error that takes its place. */
function restore(res: ServerResponse, headers: OutgoingHttpHeaders): void {
  for (const name of res.getHeaderNames()) if (!(name in headers)) res.removeHeader(name);
  for (const [name, value] of Object.entries(headers)) if (value !== undefined) res.setHeader(name, value);
}

import { randomBytes } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import Koa from 'koa';
import { type Caller, ClientGone, publicCaller, type RequestScope, requestScope } from './context.ts';
import { envelope, Failure, Failures, fail } from './errors.ts';
import type { HealthCheck, Middleware } from './lifecycle/kernel-facets.ts';
import type { Log } from './log.ts';

/** What the kernel puts on every request; plugins read it from `ctx.state`. */
export interface RequestState {
  requestId: string;
  caller: Caller;
  health: { readonly checks: readonly HealthCheck[]; readonly draining: boolean };
}

interface ComposeOptions {
  readonly middleware: readonly (Middleware & { owner: string })[];
  readonly health: readonly HealthCheck[];
  readonly log: Log;
  readonly state: { readonly draining: boolean; running: number };
}

const ID = /^[\w.:-]{1,64}$/;
const prefix = randomBytes(6).toString('base64url');
let counter = 0;

/** The whole HTTP composition: one boundary outside, the layers in phase order, and nothing that knows a route. */
export function compose({ middleware, health, log, state }: ComposeOptions): Koa {
  const app = new Koa();
  const checks = {
    checks: health,
    get draining() {
      return state.draining;
    },
  };

  app.use(async (ctx, next) => {
    const asked = ctx.get('x-request-id');
    const own = `${prefix}${(counter++).toString(36)}`;
    const id = ID.test(asked) ? asked : own;
    const request = ctx.state as RequestState;
    request.requestId = id;
    request.caller = publicCaller();
    request.health = checks;
    ctx.set('X-Request-Id', id);
    state.running++;
    await requestScope.run(new Scope(id, own, ctx), () => boundary(ctx, next, log)).finally(() => state.running--);
  });
  for (const one of middleware) {
    // Koa reports a middleware by its function name: `plugin:layer` tells whose it is.
    app.use(
      Object.defineProperty((ctx: Koa.Context, next: Koa.Next) => one.handle(ctx, next), 'name', {
        value: `${one.owner}:${one.name}`,
      }),
    );
  }
  app.use((ctx) => {
    throw fail('ROUTE_NOT_FOUND', `Route ${ctx.path} doesn't exist.`, { path: ctx.path });
  });
  // Whatever escapes the boundary is a connection that broke while it was written to.
  app.on('error', (error) => log.debug({ err: error, owner: 'kernel' }, 'connection lost'));
  return app;
}

const READING: ReadonlySet<string> = new Set(['GET', 'HEAD', 'SEARCH']);

/** A signal costs more than the rest of the scope, and most requests are answered without one. */
class Scope implements RequestScope {
  readonly id: string;
  readonly #own: string;
  readonly #res: ServerResponse;
  #reads: boolean;
  #signal: AbortSignal | undefined;

  constructor(id: string, own: string, { method, res }: Koa.Context) {
    this.id = id;
    this.#own = own;
    this.#reads = READING.has(method);
    this.#res = res;
  }

  /** With the client's id behind it, by which the log knows the request. */
  get invocation(): string {
    return this.id === this.#own ? this.id : `${this.#own} ${this.id}`;
  }

  get signal(): AbortSignal | undefined {
    if (!this.#signal && this.#reads) this.#signal = signalOf(this.#res);
    return this.#signal;
  }

  onlyReads(): void {
    this.#reads = true;
  }
}

function signalOf(res: ServerResponse): AbortSignal {
  const leave = new AbortController();
  const check = () => {
    if (!res.writableFinished) leave.abort(new ClientGone());
  };
  if (res.closed) check();
  else res.once('close', check);
  return leave.signal;
}

async function boundary(ctx: Koa.Context, next: Koa.Next, log: Log): Promise<void> {
  try {
    await next();
  } catch (error) {
    if (error instanceof ClientGone) return log.debug({ owner: 'kernel' }, 'the client went away');
    const caller = (ctx.state as RequestState).caller;
    const { status, body } = envelope(error, { admin: caller.admin });
    if (status >= 500) log.error({ err: error, owner: 'kernel' }, 'request failed');
    else log.debug({ owner: 'kernel', status, detail: detailOf(error) }, 'request refused');
    ctx.status = status;
    ctx.body = body;
    const { allow, retryAfter } = (error instanceof Failure ? error.extensions : {}) as {
      allow?: string[];
      retryAfter?: number;
    };
    if (status === 405 && allow) ctx.set('Allow', allow.join(', '));
    if (retryAfter !== undefined) ctx.set('Retry-After', String(retryAfter));
  }
}

const detailOf = (error: unknown): string =>
  error instanceof Failure
    ? `${error.code}: ${error.detail ?? ''}`
    : error instanceof Failures
      ? error.failures.map((one) => `${one.code}: ${one.detail ?? ''}`).join('; ')
      : String(error);

import { randomBytes } from 'node:crypto';
import Koa from 'koa';
import { errorEnvelope, Failure, Failures, fail } from './errors.ts';
import type { OwnedMiddleware } from './lifecycle/kernel-facets.ts';
import type { Log } from './log.ts';
import { ClientGone, requestScope } from './request-scope.ts';
import { installRequestState, type RequestState } from './request-state.ts';

export interface ComposeAppOptions {
  /** Returns the current middleware layers, which change when plugins are loaded and unloaded. */
  readonly middleware: () => readonly OwnedMiddleware[];
  readonly log: Log;
  /** `running` counts the requests in progress. While the server drains, each response closes its connection. */
  readonly load: { running: number; isDraining: boolean };
}

const ID = /^[\w.:-]{1,64}$/;
const prefix = randomBytes(6).toString('base64url');
let counter = 0;

/** Creates the Koa app: request id and error handling outermost, then middleware of plugins in phase order. It has no route. */
export function composeApp({ middleware, log, load }: ComposeAppOptions): Koa {
  const app = new Koa();
  installRequestState(app);
  app.use(async (ctx, next) => {
    const fromClient = ctx.get('x-request-id');
    const own = `${prefix}${(counter++).toString(36)}`;
    const id = ID.test(fromClient) ? fromClient : own;
    const invocation = id === own ? own : `${own} ${id}`;
    (ctx.state as RequestState).requestId = id;
    ctx.set('X-Request-Id', id);
    load.running++;
    await requestScope.run({ id, invocation }, () => handleErrors(ctx, next, log)).finally(() => load.running--);
    if (load.isDraining) ctx.set('Connection', 'close');
  });
  app.use(createLayerRunner(middleware));
  // Only a connection that breaks while the answer is written causes an error outside of `handleErrors`.
  app.on('error', (error) => log.debug({ err: error, owner: 'kernel' }, 'connection lost'));
  return app;
}

/** Creates one Koa middleware that runs all current layers. A request keeps the list of layers it began with. */
const createLayerRunner =
  (current: ComposeAppOptions['middleware']): Koa.Middleware =>
  (ctx) => {
    const layers = current();
    let last = -1;
    const run = async (at: number): Promise<void> => {
      if (at <= last) throw new Error(`the layer ${layers[at - 1]?.name} called next() twice`);
      last = at;
      const layer = layers[at];
      if (!layer) throw fail('ROUTE_NOT_FOUND', `Route ${ctx.path} doesn't exist.`, { path: ctx.path });
      await layer.handle(ctx as Koa.Context, () => run(at + 1));
    };
    return run(0);
  };

async function handleErrors(ctx: Koa.Context, next: Koa.Next, log: Log): Promise<void> {
  try {
    await next();
  } catch (error) {
    if (error instanceof ClientGone) return log.debug({ owner: 'kernel' }, 'the client went away');
    const { status, body } = errorEnvelope(error, (ctx.state as RequestState).caller);
    // A 503 is no bug: its stack does not help.
    const about = status === 503 ? { detail: detailOf(error) } : { err: error };
    if (status >= 500) log.error({ ...about, owner: 'kernel' }, 'request failed');
    else log.debug({ owner: 'kernel', status, detail: detailOf(error) }, 'request refused');
    Object.assign(ctx, { status, ...(ctx.type.includes('json') ? {} : { type: 'json' }), body: JSON.stringify(body) });
    const { allow, retryAfter } = error instanceof Failure ? error.extensions : {};
    if (status === 405 && Array.isArray(allow)) ctx.set('Allow', allow.join(', '));
    if (retryAfter !== undefined) ctx.set('Retry-After', String(retryAfter));
  }
}

function detailOf(error: unknown): string {
  if (error instanceof Failures) return error.failures.map(detailOf).join('; ');
  return error instanceof Failure ? `${error.code}: ${error.detail ?? ''}` : String(error);
}

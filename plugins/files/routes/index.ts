import type { HttpContext, Route } from '../../http/contract.ts';
import { bodyOf } from '../../http/library.ts';
import type { Key } from '../../items/contract.ts';
import { checkShape, collectionRoutes, sendWritten } from '../../items/library.ts';
import { FILES } from '../contract.ts';
import type { RouteDeps } from '../deps.ts';
import { importOf } from '../import/import.ts';
import { importRequest } from '../import/request.ts';
import { isMultipart } from '../multipart/open.ts';
import { CHANGE, CREATE, IMPORT, orFormDescription } from './descriptions.ts';
import { changeFrom, createFrom } from './upload.ts';

const PATH = '/files';

/**
 * `/files` (specification, "Files endpoints"): the routes of any collection, where a form in the place of JSON brings bytes, and
 * what deletes rows answers when their bytes are gone as well.
 */
export function fileRoutes(deps: RouteDeps): readonly Route[] {
  const importFile = importOf(deps);
  const send = (ctx: HttpContext, keys: readonly Key[]) => sendWritten(deps.items, ctx, FILES, keys, keys.length > 1);
  return [
    ...collectionRoutes(deps.items, PATH, FILES).map((route) => {
      switch (`${route.method} ${route.path}`) {
        case `POST ${PATH}`:
          return orForm(
            deps,
            { ...route, description: orFormDescription(route.description, CREATE) },
            'create',
            async (ctx) => send(ctx, await createFrom(deps, ctx)),
          );
        case `PATCH ${PATH}/:id`:
          return orForm(
            deps,
            { ...route, description: orFormDescription(route.description, CHANGE) },
            'update',
            async (ctx) => send(ctx, [await changeFrom(deps, ctx, ctx.params.id ?? '')]),
          );
        case `DELETE ${PATH}`:
        case `DELETE ${PATH}/:id`:
          return { ...route, handle: thenSwept(deps, route) };
        default:
          return route;
      }
    }),
    {
      method: 'POST',
      path: `${PATH}/import`,
      description: IMPORT,
      async handle(ctx) {
        await checkShape(deps.items, ctx, FILES);
        const key = await importFile(ctx.state.caller, importRequest(bodyOf(ctx)), signalOf(ctx));
        await send(ctx, [key]);
      },
    },
  ];
}

/** The route for JSON, and `take` for forms. */
const orForm = (
  { access, items, readBody }: RouteDeps,
  route: Route,
  action: 'create' | 'update',
  take: (ctx: HttpContext) => Promise<void>,
): Route => ({
  ...route,
  body: 'unread',
  async handle(ctx) {
    if (!isMultipart(ctx)) {
      // The middleware's own type of a context and a route's are the same object.
      ctx.state.body = await readBody(ctx as never);
      return route.handle(ctx);
    }
    // Before a byte of the form is looked at.
    await access.demand(ctx.state.caller, action, FILES);
    await checkShape(items, ctx, FILES);
    await take(ctx);
  },
});

const thenSwept =
  ({ swept }: RouteDeps, route: Route): Route['handle'] =>
  async (ctx) => {
    await route.handle(ctx);
    await swept();
  };

/** Nobody fetches for a client that has gone. */
export function signalOf({ res }: Pick<HttpContext, 'res'>): AbortSignal {
  const gone = new AbortController();
  const check = () => {
    if (!res.writableFinished) gone.abort();
  };
  if (res.closed) check();
  else res.once('close', check);
  return gone.signal;
}

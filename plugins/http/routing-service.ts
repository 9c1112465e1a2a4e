import type { BodyReaders } from './body.ts';
import { clientAddressOf } from './client-address-and-info.ts';
import type { DescribedMount, DescribedRoute, HttpContext, Route, RouteMount, RoutingService } from './contract.ts';
import { pathClaimOf } from './path-claims.ts';
import type { FindRoute } from './router.ts';
import type { RequestSettings } from './settings.ts';

interface Deps {
  readonly readers: BodyReaders;
  readonly settings: RequestSettings;
  /** Bodies that are read or parsed already, by the request they belong to. */
  readonly bodies: WeakMap<object, Promise<unknown>>;
  /** What is contributed at this moment. */
  readonly routes: () => readonly { readonly owner: string; readonly value: Route }[];
  readonly mounts: () => readonly RouteMount[];
  readonly reserved: () => ReadonlySet<string>;
  /** Finds routes whose answers depend on headers. */
  readonly findHeaderRoute: FindRoute;
}

export const createRoutingService = ({
  readers,
  settings,
  bodies,
  routes,
  mounts,
  reserved,
  findHeaderRoute,
}: Deps): RoutingService => ({
  claimOf: (path) =>
    pathClaimOf(path, { routes: routes().map(({ value }) => value), mounts: mounts(), reserved: reserved() }),
  readBody(ctx, options) {
    const reading = bodies.get(ctx.req) ?? readers.readBody(ctx, options);
    bodies.set(ctx.req, reading);
    return reading;
  },
  readForm: readers.readForm,
  readBytes: readers.readBytes,
  clientAddressOf,
  contextOfUpgrade: (req) =>
    ({ req, method: req.method, path: req.url, state: { settings } }) as unknown as HttpContext,
  dependsOnHeaders: (method, path) => findHeaderRoute(method, path) !== undefined,
  describeRoutes: createListCache(routes, ({ owner, value: { method, path, description } }): DescribedRoute[] => [
    { owner, method, path, description },
  ]),
  describeMounts: createListCache(mounts, ({ path, description }): DescribedMount[] =>
    description ? [{ path, description }] : [],
  ),
});

/** Maps a list once: again when `read` answers another list. */
function createListCache<T, R>(read: () => readonly T[], map: (one: T) => readonly R[]): () => readonly R[] {
  let source: readonly T[] | undefined;
  let mapped: readonly R[] = [];
  return () => {
    const current = read();
    if (current !== source) mapped = current.flatMap(map);
    source = current;
    return mapped;
  };
}

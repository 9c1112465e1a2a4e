import type { BodyReaders } from './body.ts';
import { clientAddressOf } from './client-address-and-info.ts';
import type { Route, RouteMount, RoutingService } from './contract.ts';
import { pathClaimOf } from './path-claims.ts';

interface Deps {
  readonly readers: BodyReaders;
  /** Bodies that are read or parsed already, by the request they belong to. */
  readonly bodies: WeakMap<object, Promise<unknown>>;
  /** What is contributed at this moment. */
  readonly routes: () => readonly { readonly owner: string; readonly value: Route }[];
  readonly mounts: () => readonly RouteMount[];
  readonly reserved: () => ReadonlySet<string>;
}

export const createRoutingService = ({ readers, bodies, routes, mounts, reserved }: Deps): RoutingService => ({
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
  describeRoutes: () =>
    routes().map(({ owner, value: { method, path, description } }) => ({ owner, method, path, description })),
});

import type Router from 'router';
import type { Found } from '../extensions/contract.ts';
import { withoutPrefix } from '../extensions/library.ts';
import { routerMount } from './compat/mount.ts';
import { createRouter } from './compat/paths.ts';
import type { Context } from './context.ts';
import type { Kit } from './kit.ts';

type Register = (router: Router.Router, context: Context) => unknown;
export type Endpoint = Register | { readonly id: string; readonly handler: Register };

/** One segment, or a scope and a segment. */
const PLACE = /^(?:@[^/?#\s]+\/)?[^/?#\s]+$/;

/** Registers the routes, and mounts them once they are complete. `name` is what a function without an id goes by. */
export async function addEndpoint(kit: Kit, context: Context, endpoint: unknown, name: string): Promise<void> {
  const { id, handler } = shapeOf(endpoint, name);
  const router = createRouter();
  await handler(router, context);
  kit.scope.add(kit.deps.mounts.add(routerMount(kit, `/${id}`, router)));
  kit.adds({ verb: 'serves', object: `/${id}` });
}

/** The package's name without its prefix; in the layout of single files the folder's. */
export const endpointName = ({ name, manifest }: Found): string => (manifest ? withoutPrefix(name) : name);

function shapeOf(endpoint: unknown, name: string): { readonly id: string; readonly handler: Register } {
  if (typeof endpoint === 'function') return { id: placeOf(name), handler: endpoint as Register };
  const { id, handler } = (endpoint ?? {}) as Partial<Exclude<Endpoint, Register>>;
  if (typeof handler !== 'function')
    throw new TypeError('an endpoint must export a function (router, context), or { id, handler }');
  return { id: placeOf(id), handler };
}

function placeOf(id: unknown): string {
  const place = typeof id === 'string' ? id.replace(/^\/+|\/+$/g, '') : '';
  if (!PLACE.test(place)) throw new TypeError('the id of an endpoint must be a name of one segment');
  return place;
}

import type Router from 'router';
import type { DiscoveredExtension } from '../extensions/contract.ts';
import { stripExtensionNamePrefix } from '../extensions/library.ts';
import { createRouterMount } from './compat/mount.ts';
import { createLegacyPathRouter } from './compat/router-path-syntax.ts';
import type { FullAuthorityContext } from './extension-context.ts';
import type { ExtensionRuntime } from './extension-runtime.ts';

type Register = (router: Router.Router, context: FullAuthorityContext) => unknown;
export type FullAuthorityEndpointExport = Register | { readonly id: string; readonly handler: Register };

/** One segment, or a scope and a segment. */
const PATH = /^(?:@[^/?#\s]+\/)?[^/?#\s]+$/;

/** Calls the register function, then mounts the complete router. `name` is the path of an endpoint without an id. */
export async function registerFullAuthorityEndpoint(
  runtime: ExtensionRuntime,
  context: FullAuthorityContext,
  endpoint: unknown,
  name: string,
): Promise<void> {
  const { id, handler } = parseEndpoint(endpoint, name);
  const router = createLegacyPathRouter();
  await handler(router, context);
  runtime.undoStack.add(runtime.deps.mounts.add(createRouterMount(runtime, `/${id}`, router)));
  runtime.recordAuthority({ verb: 'serves', object: `/${id}` });
}

/** The package's name without its prefix; in the single-file layout the folder's name. */
export const endpointName = ({ name, manifest }: DiscoveredExtension): string =>
  manifest ? stripExtensionNamePrefix(name) : name;

function parseEndpoint(endpoint: unknown, name: string): { readonly id: string; readonly handler: Register } {
  if (typeof endpoint === 'function') return { id: parsePath(name), handler: endpoint as Register };
  const { id, handler } = (endpoint ?? {}) as Partial<Exclude<FullAuthorityEndpointExport, Register>>;
  if (typeof handler !== 'function')
    throw new TypeError('an endpoint must export a function (router, context), or { id, handler }');
  return { id: parsePath(id), handler };
}

function parsePath(id: unknown): string {
  const place = typeof id === 'string' ? id.replace(/^\/+|\/+$/g, '') : '';
  if (!PATH.test(place)) throw new TypeError('the id of an endpoint must be a name of one segment');
  return place;
}

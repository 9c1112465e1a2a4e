import { fail } from '#kernel';
import type { HttpContext } from '../http/contract.ts';
import type { ProviderDriverDeclaration } from './contract.ts';
import type { ProviderRegistry } from './provider-registry.ts';
import { assertContributed, type OpenProvider } from './providers.ts';

/** Finds the provider of a route. */
export interface ProviderFinder {
  /** @throws ROUTE_NOT_FOUND for a provider that does not exist or is none of redirects, INVALID_PROVIDER without its driver */
  find(ctx: HttpContext, name: string): OpenProvider;
  /** @throws the same, and ROUTE_NOT_FOUND where the plugin of the driver serves the callback itself */
  assertCallback(ctx: HttpContext, name: string): void;
}

export function createProviderFinder(
  registry: Pick<ProviderRegistry, 'get'>,
  declarations: () => ReadonlyMap<string, ProviderDriverDeclaration>,
): ProviderFinder {
  const notFound = ({ path }: HttpContext) => fail('ROUTE_NOT_FOUND', `Route ${path} doesn't exist.`, { path });

  function find(ctx: HttpContext, name: string): OpenProvider {
    const provider = registry.get(name);
    if (provider?.declaration.kind !== 'redirect') throw notFound(ctx);
    assertContributed(provider, declarations());
    return provider;
  }

  return {
    find,
    assertCallback(ctx, name) {
      const { declaration } = find(ctx, name);
      if (declaration.kind === 'redirect' && declaration.ownCallback) throw notFound(ctx);
    },
  };
}

import * as client from 'openid-client';
import { Failure, fail } from '#kernel';
import type { ProviderCall, ProviderSettings } from '../auth-providers/contract.ts';

/** Milliseconds after which the discovery document is fetched again, and for which the last one serves where that fails. */
const RENEWED_AFTER = 60 * 60_000;
const KEPT_FOR = 24 * 60 * 60_000;

/** The discovery document of a provider. */
export interface ServerMetadataCache {
  /** @throws SERVICE_UNAVAILABLE where there is none, and the provider does not answer one */
  current(call: ProviderCall): Promise<client.ServerMetadata>;
}

/** Fetches the discovery document at the first sign-in and hourly, once for all sign-ins that wait for it. */
export function createServerMetadataCache(provider: ProviderSettings, issuer: URL): ServerMetadataCache {
  let known: { readonly metadata: client.ServerMetadata; readonly at: number } | undefined;
  let pending: Promise<client.ServerMetadata> | undefined;

  async function discover(call: ProviderCall): Promise<client.ServerMetadata> {
    try {
      const config = await client.discovery(issuer, provider.value('CLIENT_ID'), undefined, client.None(), {
        [client.customFetch]: call.fetch as client.CustomFetch,
        execute: issuer.protocol === 'http:' ? [client.allowInsecureRequests] : [],
      });
      const metadata = config.serverMetadata();
      const { authorization_endpoint, token_endpoint, jwks_uri } = metadata;
      if (!authorization_endpoint || !token_endpoint || !jwks_uri)
        throw new Error('it names no authorization_endpoint, token_endpoint or jwks_uri');
      known = { metadata, at: performance.now() };
      return metadata;
    } catch (error) {
      const reason = error instanceof Failure ? error.message : ((error as Error)?.message ?? String(error));
      throw fail(
        'SERVICE_UNAVAILABLE',
        `The discovery document of the sign-in provider ${provider.name} cannot be used: ${reason}.`,
      );
    }
  }

  return {
    async current(call) {
      const age = known ? performance.now() - known.at : Number.POSITIVE_INFINITY;
      if (known && age < RENEWED_AFTER) return known.metadata;
      pending ??= discover(call).finally(() => (pending = undefined));
      try {
        return await pending;
      } catch (error) {
        if (known && age < KEPT_FOR) return known.metadata;
        throw error;
      }
    },
  };
}

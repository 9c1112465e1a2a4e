import * as client from 'openid-client';
import type { ProviderCall, ProviderSettings } from '../auth-providers/contract.ts';
import { createProviderFailure, reasonOf } from '../auth-providers/library.ts';

/** Milliseconds after which the discovery document is fetched again, and for which the last one serves where that fails. */
const RENEWED_AFTER = 60 * 60_000;
const KEPT_FOR = 24 * 60 * 60_000;
/** Milliseconds between attempts to renew it. */
const ATTEMPT_INTERVAL = 60_000;

/** The discovery document of a provider. */
export interface ServerMetadataCache {
  /** @throws SERVICE_UNAVAILABLE where there is none, and the provider does not answer one */
  current(call: ProviderCall): Promise<client.ServerMetadata>;
}

/**
 * Fetches the discovery document at the first sign-in, once for all sign-ins that wait for it, and then hourly beside the sign-ins, so
 * that none waits for a provider which does not answer.
 */
export function createServerMetadataCache(
  provider: ProviderSettings,
  issuer: URL,
  now: () => number = () => performance.now(),
): ServerMetadataCache {
  let known: { readonly metadata: client.ServerMetadata; readonly at: number } | undefined;
  let pending: Promise<client.ServerMetadata> | undefined;
  let attempted = Number.NEGATIVE_INFINITY;

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
      known = { metadata, at: now() };
      return metadata;
    } catch (error) {
      throw createProviderFailure(
        'SERVICE_UNAVAILABLE',
        `The sign-in provider ${provider.name} cannot be used.`,
        `its discovery document: ${reasonOf(error)}`,
      );
    }
  }

  function renew(): void {
    if (now() - attempted < ATTEMPT_INTERVAL) return;
    attempted = now();
    // Where it fails the last document serves on.
    provider.call(discover).catch(() => {});
  }

  return {
    async current(call) {
      const age = known ? now() - known.at : Number.POSITIVE_INFINITY;
      if (known && age < KEPT_FOR) {
        if (age > RENEWED_AFTER) renew();
        return known.metadata;
      }
      pending ??= discover(call).finally(() => {
        pending = undefined;
      });
      return pending;
    },
  };
}

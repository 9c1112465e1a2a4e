import * as client from 'openid-client';
import type { ProviderSettings } from '../auth-providers/contract.ts';
import {
  createProviderDocument,
  createProviderFailure,
  type ProviderDocument,
  reasonOf,
} from '../auth-providers/library.ts';

/** Milliseconds after which the discovery document is fetched again. */
const RENEWED_AFTER = 60 * 60_000;

/** Keeps the discovery document. Its failure is SERVICE_UNAVAILABLE. */
export const createServerMetadataDocument = (
  provider: ProviderSettings,
  issuer: URL,
): ProviderDocument<client.ServerMetadata> =>
  createProviderDocument(provider, {
    renewedAfter: RENEWED_AFTER,
    load: async (call) => {
      try {
        const config = await client.discovery(issuer, provider.value('CLIENT_ID'), undefined, client.None(), {
          [client.customFetch]: call.fetch as client.CustomFetch,
          execute: issuer.protocol === 'http:' ? [client.allowInsecureRequests] : [],
        });
        const metadata = config.serverMetadata();
        const { authorization_endpoint, token_endpoint, jwks_uri } = metadata;
        if (!authorization_endpoint || !token_endpoint || !jwks_uri)
          throw new Error('it names no authorization_endpoint, token_endpoint or jwks_uri');
        return metadata;
      } catch (error) {
        throw createProviderFailure(
          'SERVICE_UNAVAILABLE',
          `The sign-in provider ${provider.name} cannot be used.`,
          `its discovery document: ${reasonOf(error)}`,
        );
      }
    },
  });

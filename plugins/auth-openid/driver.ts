import * as client from 'openid-client';
import { fail } from '#kernel';
import type { OAuth2Client } from '../auth-oauth2/contract.ts';
import { parseAuthorizationParameters } from '../auth-oauth2/library.ts';
import type {
  ProviderCall,
  ProviderSettings,
  ProviderSignOut,
  RedirectProviderDriver,
} from '../auth-providers/contract.ts';
import { profileOfClaims } from '../auth-providers/library.ts';
import { checkOpenIdProvider } from './check.ts';
import { createLogoutTokenVerifier } from './logout-token.ts';
import { createServerMetadataDocument } from './server-metadata.ts';

/** Signatures by public keys. With a shared secret or without one, every client could sign ID tokens. */
const ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
];

/** Opens a provider of OpenID Connect. */
export async function openOpenIdDriver(
  provider: ProviderSettings,
  oauth2: OAuth2Client,
): Promise<RedirectProviderDriver> {
  const issuer = provider.value<string>('ISSUER_URL');
  if (!URL.canParse(issuer) || !/^https?:$/.test(new URL(issuer).protocol))
    throw new Error(`${provider.variableOf('ISSUER_URL')} is no address of http or https`);
  const servers = createServerMetadataDocument(provider, new URL(issuer));
  const parameters = parseAuthorizationParameters(provider.value<unknown>('PARAMS'));
  const verifyLogoutToken = createLogoutTokenVerifier({ provider, algorithms: ALGORITHMS });
  let keys: client.ExportedJWKSCache | undefined;

  async function configure(call: ProviderCall): Promise<client.Configuration> {
    const metadata = await servers.current(call);
    const offered = metadata.id_token_signing_alg_values_supported ?? ['RS256'];
    const clockTolerance = provider.value<number>('CLOCK_TOLERANCE') / 1000;
    const config = await oauth2.configure(
      provider,
      {
        metadata: {
          ...metadata,
          id_token_signing_alg_values_supported: offered.filter((one) => ALGORITHMS.includes(one)),
        },
        insecure: new URL(issuer).protocol === 'http:',
        client: { [client.clockTolerance]: clockTolerance },
      },
      call,
    );
    // The library trusts ID tokens of the token endpoint for its TLS. The signature is checked all the same.
    client.enableNonRepudiationChecks(config);
    if (keys) client.setJwksCache(config, keys);
    return config;
  }

  async function claimsOf(config: client.Configuration, tokens: Awaited<ReturnType<OAuth2Client['exchangeCode']>>) {
    const claims = tokens.claims();
    if (!claims) throw fail('INVALID_CREDENTIALS', 'the provider answers no ID token');
    if (!config.serverMetadata().userinfo_endpoint) return claims;
    const info = await oauth2.withFailures(provider, () =>
      client.fetchUserInfo(config, tokens.access_token, claims.sub),
    );
    return { ...claims, ...info };
  }

  if (provider.value<boolean>('ISSUER_DISCOVERY_MUST_SUCCEED')) await provider.call((call) => servers.current(call));

  return {
    begin: async (start) => oauth2.begin(await configure(start), provider, start, { parameters, nonce: true }),

    async finish(callback) {
      const config = await configure(callback);
      try {
        const tokens = await oauth2.exchangeCode(config, provider, callback);
        const profile = profileOfClaims(provider, await claimsOf(config, tokens));
        return { ...profile, tokens: oauth2.tokensOf(tokens), signOut: signOutOf(tokens) };
      } finally {
        keys = client.getJwksCache(config) ?? keys;
      }
    },

    async logout(redirect, { hint, ...call }) {
      const config = await configure(call);
      if (!config.serverMetadata().end_session_endpoint) return undefined;
      return client.buildEndSessionUrl(config, {
        ...(redirect ? { post_logout_redirect_uri: redirect.href } : {}),
        ...(hint === undefined ? {} : { id_token_hint: hint }),
      });
    },

    readSignOut: async (message, call) =>
      verifyLogoutToken(message.get('logout_token') ?? '', await servers.current(call), call),

    check: (call) =>
      checkOpenIdProvider(
        { provider, oauth2, parameters, discover: (one) => servers.current(one), configure, algorithms: ALGORITHMS },
        call,
      ),

    refresh: async (tokens, call) => oauth2.exchangeRefreshToken(await configure(call), provider, tokens),
  };
}

/** What a sign-out names: user and session by the ID token, and the token itself. */
function signOutOf(tokens: Awaited<ReturnType<OAuth2Client['exchangeCode']>>): ProviderSignOut {
  const { sub: subject, sid } = Object(tokens.claims()) as { readonly sub: string; readonly sid?: unknown };
  return { subject, session: typeof sid === 'string' ? sid : undefined, hint: tokens.id_token };
}

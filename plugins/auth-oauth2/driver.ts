import * as client from 'openid-client';
import { fail } from '#kernel';
import type { ProviderCall, ProviderSettings, RedirectProviderDriver } from '../auth-providers/contract.ts';
import { profileOfClaims } from '../auth-providers/library.ts';
import { oauth2Client } from './client.ts';
import { parseAuthorizationParameters } from './client-keys.ts';

/** Opens a provider of plain OAuth2. @throws Error for addresses and parameters that cannot be */
export function openOAuth2Driver(provider: ProviderSettings): RedirectProviderDriver {
  const url = (key: string): URL => {
    const text = provider.value<string>(key);
    if (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)) return new URL(text);
    throw new Error(`${provider.variableOf(key)} is no address of http or https`);
  };
  const profileUrl = url('PROFILE_URL');
  const issuer = provider.value('ISSUER_URL');
  const metadata = {
    // The protocol has no issuer. A provider may name one in its callback (RFC 9207), which is then compared.
    issuer: issuer ?? url('AUTHORIZE_URL').origin,
    authorization_endpoint: url('AUTHORIZE_URL').href,
    token_endpoint: url('ACCESS_URL').href,
  };
  const insecure = [url('ACCESS_URL'), profileUrl].some(({ protocol }) => protocol === 'http:');
  const parameters = parseAuthorizationParameters(provider.value<unknown>('PARAMS'));
  const configure = (call: ProviderCall) => oauth2Client.configure(provider, { metadata, insecure }, call);

  async function fetchProfile(config: client.Configuration, accessToken: string): Promise<Record<string, unknown>> {
    const response = await client.fetchProtectedResource(
      config,
      accessToken,
      profileUrl,
      'GET',
      undefined,
      PROFILE_HEADERS,
    );
    if (response.status !== 200)
      throw fail(
        'SERVICE_UNAVAILABLE',
        `The sign-in provider ${provider.name} answers ${response.status} to PROFILE_URL.`,
      );
    const profile: unknown = await response.json().catch(() => undefined);
    if (typeof profile !== 'object' || profile === null || Array.isArray(profile))
      throw fail('SERVICE_UNAVAILABLE', `The sign-in provider ${provider.name} answers no JSON object to PROFILE_URL.`);
    return profile as Record<string, unknown>;
  }

  return {
    begin: async (start) => oauth2Client.begin(await configure(start), provider, start, { parameters, nonce: false }),

    async finish(callback) {
      const config = await configure(callback);
      const answered = new URLSearchParams(callback.parameters);
      if (issuer === undefined) answered.delete('iss');
      const tokens = await oauth2Client.exchangeCode(config, provider, { ...callback, parameters: answered });
      const claims = await oauth2Client.withFailures(provider, () => fetchProfile(config, tokens.access_token));
      return { ...profileOfClaims(provider, claims), tokens: oauth2Client.tokensOf(tokens) };
    },

    refresh: async (tokens, call) => oauth2Client.exchangeRefreshToken(await configure(call), provider, tokens),
  };
}

/** Some providers refuse requests that name no program. */
const PROFILE_HEADERS = new Headers({ accept: 'application/json', 'user-agent': 'content-service' });

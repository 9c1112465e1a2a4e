import * as client from 'openid-client';
import { fail } from '#kernel';
import type {
  ProviderCall,
  ProviderFinding,
  ProviderSettings,
  RedirectProviderDriver,
} from '../auth-providers/contract.ts';
import { attemptCheck, profileOfClaims } from '../auth-providers/library.ts';
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

  /** Looks at the three addresses. Only a sign-in has a token for the last one. */
  async function* check(call: ProviderCall): AsyncIterable<ProviderFinding> {
    const config = await configure(call);
    yield await oauth2Client.checkAuthorization(provider, parameters, config, call);
    yield await oauth2Client.checkTokenEndpoint(config, provider);
    yield await checkProfileUrl(provider, profileUrl, call);
    if (provider.value('IDENTIFIER_KEY') === undefined) {
      const text = 'users are identified by their e-mail address, which can change and go to another person';
      yield { check: 'identifier', status: 'warn', text, remedy: `set ${provider.variableOf('IDENTIFIER_KEY')}` };
    }
  }

  return {
    check,

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

async function checkProfileUrl(
  { variableOf }: ProviderSettings,
  url: URL,
  call: ProviderCall,
): Promise<ProviderFinding> {
  const check = 'profile';
  const remedy = `correct ${variableOf('PROFILE_URL')}`;
  const { value: answer, failure } = await attemptCheck(check, remedy, () =>
    call.fetch(url, { headers: PROFILE_HEADERS }),
  );
  if (!answer) return failure as ProviderFinding;
  const { status } = answer;
  if (status === 404 || status >= 500) return { check, status: 'fail', text: `${url.href} answers ${status}`, remedy };
  return { check, status: 'ok', text: `${url.href} answers ${status} without a token` };
}

/** Some providers refuse requests that name no program. */
const PROFILE_HEADERS = new Headers({ accept: 'application/json', 'user-agent': 'content-service' });

import * as client from 'openid-client';
import { fail } from '#kernel';
import type {
  ProviderCall,
  ProviderSettings,
  ProviderTokens,
  SignInCallback,
  SignInRedirect,
  SignInStart,
} from '../auth-providers/contract.ts';
import { checkAuthorization, checkTokenEndpoint, createCheckStart } from './check.ts';
import type { AuthorizationServer, OAuth2Client } from './contract.ts';
import { toRefreshFailure, toSignInFailure } from './sign-in-failure.ts';

/** This service as a client of the server, for the requests of one call, with the secret of this moment. */
async function configure(
  provider: ProviderSettings,
  { metadata, insecure, client: more = {} }: AuthorizationServer,
  call: ProviderCall,
): Promise<client.Configuration> {
  const authentication = clientAuthenticationOf(provider, metadata, await provider.secret('CLIENT_SECRET'));
  const config = new client.Configuration(metadata, provider.value('CLIENT_ID'), more, authentication);
  config[client.customFetch] = call.fetch as client.CustomFetch;
  if (insecure) client.allowInsecureRequests(config);
  return config;
}

function clientAuthenticationOf(
  provider: ProviderSettings,
  { token_endpoint_auth_methods_supported: supported }: client.ServerMetadata,
  secret: string | undefined,
): client.ClientAuth {
  const declared = provider.value('CLIENT_TOKEN_ENDPOINT_AUTH_METHOD');
  if (declared === 'none' || (declared === undefined && secret === undefined)) return client.None();
  if (secret === undefined)
    throw fail('INVALID_CONFIG', `${provider.variableOf('CLIENT_SECRET')} is empty, and the provider needs it.`);
  const byPost =
    declared === 'client_secret_post' ||
    (declared === undefined && supported?.includes('client_secret_post') && !supported.includes('client_secret_basic'));
  return byPost ? client.ClientSecretPost(secret) : client.ClientSecretBasic(secret);
}

/** The authorization request, with PKCE; with a nonce where the provider answers an ID token. */
async function begin(
  config: client.Configuration,
  provider: ProviderSettings,
  { state, prompt }: SignInStart,
  options: { readonly parameters: Readonly<Record<string, string>>; readonly nonce: boolean },
): Promise<SignInRedirect> {
  const verifier = client.randomPKCECodeVerifier();
  const nonce = options.nonce ? client.randomNonce() : undefined;
  const location = client.buildAuthorizationUrl(config, {
    ...options.parameters,
    ...(prompt === undefined ? {} : { prompt }),
    response_type: 'code',
    redirect_uri: provider.urlOf('callback'),
    scope: provider.value<string>('SCOPE'),
    state,
    ...(nonce === undefined ? {} : { nonce }),
    code_challenge: await client.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
  });
  return { location, keep: { verifier, nonce } };
}

/** Exchanges the code of a callback for tokens. @throws INVALID_CREDENTIALS, SERVICE_UNAVAILABLE, INVALID_CONFIG */
async function exchangeCode(
  config: client.Configuration,
  provider: ProviderSettings,
  { parameters, state, keep }: Pick<SignInCallback, 'parameters' | 'state' | 'keep'>,
) {
  const url = new URL(provider.urlOf('callback'));
  url.search = parameters.toString();
  const { verifier, nonce } = keep as { readonly verifier: string; readonly nonce?: string };
  return withFailures(provider, () =>
    client.authorizationCodeGrant(config, url, {
      expectedState: state,
      pkceCodeVerifier: verifier,
      ...(nonce === undefined ? {} : { expectedNonce: nonce, idTokenExpected: true }),
    }),
  );
}

/** Exchanges a refresh token. @throws INVALID_CREDENTIALS where the provider refuses it, SERVICE_UNAVAILABLE, INVALID_CONFIG */
async function exchangeRefreshToken(
  config: client.Configuration,
  provider: ProviderSettings,
  { refreshToken }: ProviderTokens,
): Promise<ProviderTokens> {
  const answer = await client.refreshTokenGrant(config, refreshToken).catch((error) => {
    throw toRefreshFailure(error, provider.name);
  });
  return tokensOf(answer) ?? { refreshToken, expires: expiryOf(answer.expires_in) };
}

/** The tokens to store; undefined where the provider issues no refresh token. */
const tokensOf = ({ refresh_token, expires_in }: client.TokenEndpointResponse): ProviderTokens | undefined =>
  refresh_token === undefined ? undefined : { refreshToken: refresh_token, expires: expiryOf(expires_in) };

const expiryOf = (seconds: number | undefined): number | undefined =>
  seconds === undefined ? undefined : Date.now() + seconds * 1000;

/** @throws the Failure for an error of `openid-client` */
async function withFailures<T>(provider: Pick<ProviderSettings, 'name'>, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw toSignInFailure(error, provider.name);
  }
}

/** Requests of this service as a client of an authorization server, by `openid-client`. */
export const oauth2Client: OAuth2Client = {
  configure,
  begin,
  exchangeCode,
  exchangeRefreshToken,
  tokensOf,
  async checkAuthorization(provider, parameters, config, call) {
    const { location } = await begin(config, provider, createCheckStart(call), { parameters, nonce: false });
    return checkAuthorization(provider, location, call);
  },
  checkTokenEndpoint,
  withFailures,
};

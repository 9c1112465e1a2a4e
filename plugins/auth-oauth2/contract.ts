import type * as client from 'openid-client';
import { service } from '#kernel';
import type {
  ProviderCall,
  ProviderFinding,
  ProviderSettings,
  ProviderTokens,
  SignInCallback,
  SignInRedirect,
  SignInStart,
} from '../auth-providers/contract.ts';

/** What a client knows of an authorization server. */
export interface AuthorizationServer {
  readonly metadata: client.ServerMetadata;
  /** Requests without TLS are sent: only where an administrator wrote an address with http://, never because the provider names one. */
  readonly insecure: boolean;
  /** Client metadata of OpenID Connect, such as the tolerance of clocks. */
  readonly client?: Partial<client.ClientMetadata>;
}

/** Requests of this service as a client of an authorization server. */
export interface OAuth2Client {
  /** This service as a client of the server, for the requests of one call, with the secret of this moment. @throws INVALID_CONFIG */
  configure(provider: ProviderSettings, server: AuthorizationServer, call: ProviderCall): Promise<client.Configuration>;
  /** The authorization request, with PKCE; with a nonce where the provider answers an ID token. */
  begin(
    config: client.Configuration,
    provider: ProviderSettings,
    start: SignInStart,
    options: { readonly parameters: Readonly<Record<string, string>>; readonly nonce: boolean },
  ): Promise<SignInRedirect>;
  /** Exchanges the code of a callback for tokens. @throws INVALID_CREDENTIALS, SERVICE_UNAVAILABLE, INVALID_CONFIG */
  exchangeCode(
    config: client.Configuration,
    provider: ProviderSettings,
    callback: Pick<SignInCallback, 'parameters' | 'state' | 'keep'>,
  ): Promise<client.TokenEndpointResponse & client.TokenEndpointResponseHelpers>;
  /** Exchanges a refresh token. @throws INVALID_CREDENTIALS, SERVICE_UNAVAILABLE, INVALID_CONFIG */
  exchangeRefreshToken(
    config: client.Configuration,
    provider: ProviderSettings,
    tokens: ProviderTokens,
  ): Promise<ProviderTokens>;
  /** The tokens to store; undefined where the provider issues no refresh token. */
  tokensOf(answer: client.TokenEndpointResponse): ProviderTokens | undefined;
  /** For `auth check`: whether the authorization endpoint takes a request of this client with its callback. */
  checkAuthorization(
    provider: ProviderSettings,
    parameters: Readonly<Record<string, string>>,
    config: client.Configuration,
    call: ProviderCall,
  ): Promise<ProviderFinding>;
  /** For `auth check`: whether the token endpoint knows this client. */
  checkTokenEndpoint(config: client.Configuration, provider: ProviderSettings): Promise<ProviderFinding>;
  /** Runs requests of `openid-client`, whose errors become failures. @throws INVALID_CREDENTIALS, SERVICE_UNAVAILABLE, INVALID_CONFIG */
  withFailures<T>(provider: Pick<ProviderSettings, 'name'>, work: () => Promise<T>): Promise<T>;
}

/** Loads the client: the first sign-in does, and not the start. */
export interface OAuth2Clients {
  load(): Promise<OAuth2Client>;
}

/** For drivers of protocols that are built on OAuth2. */
export const oauth2Clients = service<OAuth2Clients>('oauth2-clients', { version: '1.0.0' });

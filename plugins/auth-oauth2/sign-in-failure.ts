import * as client from 'openid-client';
import { Failure, fail } from '#kernel';
import { createProviderFailure, reasonOf } from '../auth-providers/library.ts';

/** The provider answered something that is no answer of the protocol. */
const UNUSABLE: ReadonlySet<string | undefined> = new Set([
  'OAUTH_RESPONSE_IS_NOT_CONFORM',
  'OAUTH_RESPONSE_IS_NOT_JSON',
  'OAUTH_PARSE_ERROR',
  'OAUTH_HTTP_REQUEST_FORBIDDEN',
  'OAUTH_REQUEST_PROTOCOL_FORBIDDEN',
]);
/** The provider does not know this service, or not its secret. */
const MISCONFIGURED: ReadonlySet<string> = new Set(['invalid_client', 'unauthorized_client', 'invalid_scope']);
const BUSY: ReadonlySet<string> = new Set(['server_error', 'temporarily_unavailable']);

/** Turns an error of `openid-client` into the Failure that the sign-in ends with. Its detail names no token and no secret. */
export function toSignInFailure(error: unknown, provider: string): Failure {
  const failure = findFailure(error);
  if (failure) return failure;
  const unavailable = (what: string) =>
    createProviderFailure('SERVICE_UNAVAILABLE', `The sign-in provider ${provider} cannot be used.`, `it ${what}`);
  if (error instanceof client.AuthorizationResponseError) {
    if (BUSY.has(error.error)) return unavailable(`answers ${error.error}`);
    return fail('INVALID_CREDENTIALS', `the provider refused the sign-in: ${shortTextOf(error.error)}`);
  }
  if (error instanceof client.ResponseBodyError) {
    if (MISCONFIGURED.has(error.error)) return configFailure(provider, error.error);
    if (error.status >= 500 || error.status === 429 || BUSY.has(error.error))
      return unavailable(`answers ${error.status}`);
    return fail('INVALID_CREDENTIALS', `the provider refused the exchange: ${shortTextOf(error.error)}`);
  }
  if (error instanceof client.WWWAuthenticateChallengeError) return configFailure(provider, `status ${error.status}`);
  if (error instanceof client.ClientError) {
    if (UNUSABLE.has(error.code)) return unavailable(`answers what is no answer of the protocol (${error.message})`);
    return fail('INVALID_CREDENTIALS', `what the provider sent proves no identity: ${error.message} (${error.code})`);
  }
  return unavailable(`made the request fail: ${reasonOf(error)}`);
}

/** Of a refresh only `invalid_grant` says that the user is not known any more: garbage of a provider ends no session. */
export function toRefreshFailure(error: unknown, provider: string): Failure {
  const failure = toSignInFailure(error, provider);
  const isRefused = error instanceof client.ResponseBodyError && error.error === 'invalid_grant';
  if (isRefused || failure.code !== 'INVALID_CREDENTIALS') return failure;
  const message = `The sign-in provider ${provider} cannot be used.`;
  return createProviderFailure('SERVICE_UNAVAILABLE', message, reasonOf(failure));
}

const configFailure = (provider: string, why: string) =>
  createProviderFailure(
    'INVALID_CONFIG',
    `The sign-in provider ${provider} does not accept this service.`,
    `it answers ${shortTextOf(why)}: check CLIENT_ID, CLIENT_SECRET and SCOPE`,
  );

/** A Failure that caused the error: of a request that was late, or too long. */
function findFailure(error: unknown): Failure | undefined {
  for (let at = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth++)
    if (at instanceof Failure) return at;
  return undefined;
}

const shortTextOf = (text: string): string => text.replaceAll(/[^\w .:-]/g, '?').slice(0, 80);

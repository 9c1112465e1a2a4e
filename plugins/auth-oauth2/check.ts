import * as client from 'openid-client';
import type { ProviderCall, ProviderFinding, ProviderSettings, SignInStart } from '../auth-providers/contract.ts';
import { attemptCheck } from '../auth-providers/library.ts';
import { toSignInFailure } from './sign-in-failure.ts';

const noHeader = (): undefined => undefined;

/** The begin of a sign-in that no browser goes on with. */
export const createCheckStart = (call: ProviderCall): SignInStart => ({
  ...call,
  state: client.randomState(),
  prompt: undefined,
  header: noHeader,
});

/**
 * Requests the address that browsers are sent to. Most providers show an error page there for a client or a callback that they do not
 * know, and send other errors to the callback.
 */
export async function checkAuthorization(
  provider: ProviderSettings,
  location: URL,
  call: ProviderCall,
): Promise<ProviderFinding> {
  const check = 'authorization';
  const callback = provider.urlOf('callback');
  const remedy = `register ${callback} as a callback of this client at the provider, and check ${provider.variableOf('CLIENT_ID')}`;
  const { value: answer, failure } = await attemptCheck(check, 'see whether the provider answers', () =>
    call.fetch(location),
  );
  if (!answer) return failure as ProviderFinding;
  const target = URL.parse(answer.headers.get('location') ?? '', location.href);
  const error = target?.href.startsWith(callback) ? target.searchParams.get('error') : null;
  if (error) {
    const description = target?.searchParams.get('error_description') ?? '';
    const text = `the provider refuses the request: ${error} ${description}`.trim().slice(0, 300);
    return {
      check,
      status: 'fail',
      text,
      remedy: `check ${provider.variableOf('SCOPE')} and ${provider.variableOf('PARAMS')}`,
    };
  }
  if (answer.status >= 400) {
    const text = `${location.origin}${location.pathname} answers ${answer.status}: the provider does not know this client or its callback`;
    return { check, status: answer.status >= 500 ? 'warn' : 'fail', text, remedy };
  }
  return {
    check,
    status: 'ok',
    text: `${location.origin}${location.pathname} takes the request, with the callback ${callback}`,
  };
}

/** Sends a code that cannot exist: a provider that knows this client answers `invalid_grant`. */
export async function checkTokenEndpoint(
  config: client.Configuration,
  provider: ProviderSettings,
): Promise<ProviderFinding> {
  const check = 'token endpoint';
  const address = String(config.serverMetadata().token_endpoint);
  try {
    await client.genericGrantRequest(config, 'authorization_code', {
      code: client.randomState(),
      redirect_uri: provider.urlOf('callback'),
      code_verifier: client.randomPKCECodeVerifier(),
    });
  } catch (error) {
    const isAnswer = error instanceof client.ResponseBodyError;
    if (isAnswer && error.error === 'invalid_grant')
      return { check, status: 'ok', text: `${address} knows this client` };
    if (isAnswer && error.error === 'invalid_request') {
      const text = `${address} answers invalid_request to a code that does not exist, so it may not have looked at the client`;
      return { check, status: 'warn', text, remedy: 'try a sign-in' };
    }
    const failure = toSignInFailure(error, provider.name);
    const isConfig = failure.code === 'INVALID_CONFIG';
    const remedy = isConfig
      ? `check ${provider.variableOf('CLIENT_ID')}, ${provider.variableOf('CLIENT_SECRET')} and ${provider.variableOf('CLIENT_TOKEN_ENDPOINT_AUTH_METHOD')}`
      : 'see whether the address is the right one, and whether it answers from this machine';
    const why = isAnswer
      ? `${error.status} ${error.error}`
      : ((failure.cause as Error | undefined)?.message ?? failure.detail);
    return { check, status: 'fail', text: `${address}: ${why}`, remedy };
  }
  const remedy = 'ask the provider: it should answer invalid_grant';
  return { check, status: 'fail', text: `${address} takes any code for valid`, remedy };
}

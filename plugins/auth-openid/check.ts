import type * as client from 'openid-client';
import type { OAuth2Client } from '../auth-oauth2/contract.ts';
import type { ProviderCall, ProviderFinding, ProviderSettings } from '../auth-providers/contract.ts';
import { attemptCheck } from '../auth-providers/library.ts';

interface Parts {
  readonly provider: ProviderSettings;
  readonly oauth2: OAuth2Client;
  readonly parameters: Readonly<Record<string, string>>;
  /** The discovery document as the provider answers it. */
  readonly discover: (call: ProviderCall) => Promise<client.ServerMetadata>;
  readonly configure: (call: ProviderCall) => Promise<client.Configuration>;
  /** Algorithms of signatures that are accepted. */
  readonly algorithms: readonly string[];
}

/** Looks at a provider of OpenID Connect: its document, its keys, this client at it. */
export async function* checkOpenIdProvider(parts: Parts, call: ProviderCall): AsyncIterable<ProviderFinding> {
  const { provider, oauth2, parameters, discover, configure, algorithms } = parts;
  const issuer = provider.value<string>('ISSUER_URL');
  const remedy = `open the document in a browser, and correct ${provider.variableOf('ISSUER_URL')}: it is the issuer that the document names, letter by letter`;
  const discovered = await attemptCheck('discovery document', remedy, () => discover(call));
  if (!discovered.value) {
    yield discovered.failure as ProviderFinding;
    return;
  }
  const server = discovered.value;
  yield { check: 'discovery document', status: 'ok', text: `of the issuer ${server.issuer}` };
  if (!issuer.startsWith('https:')) {
    const text = 'the issuer is no address of https: any machine on the way can sign in as any user';
    yield { check: 'encryption', status: 'warn', text, remedy: 'use an issuer with https' };
  }
  yield* describeOffers(provider, server, algorithms);
  yield await checkKeys(server, call);
  const config = await configure(call);
  yield await oauth2.checkAuthorization(provider, parameters, config, call);
  yield await oauth2.checkTokenEndpoint(config, provider);
  yield describeSignOut(server);
}

/** What the document says that the provider can do, compared with what a sign-in needs. */
function* describeOffers(
  { value, variableOf }: ProviderSettings,
  server: client.ServerMetadata,
  algorithms: readonly string[],
): Iterable<ProviderFinding> {
  const offered = server.id_token_signing_alg_values_supported ?? ['RS256'];
  const accepted = offered.filter((one) => algorithms.includes(one));
  const signatures = { check: 'signatures', text: `ID tokens are signed by ${offered.join(', ')}` };
  if (accepted.length > 0) yield { ...signatures, status: 'ok' };
  else
    yield { ...signatures, status: 'fail', remedy: 'have the provider sign by a private key, such as RS256 or ES256' };
  const methods = server.code_challenge_methods_supported;
  if (methods && !methods.includes('S256')) {
    const text = `the provider names no PKCE by S256, but ${methods.join(', ') || 'nothing'}`;
    yield { check: 'PKCE', status: 'warn', text, remedy: 'try a sign-in: most providers ignore what they do not know' };
  }
  const scopes = value<string>('SCOPE').split(/\s+/);
  const unknown = server.scopes_supported ? scopes.filter((one) => !server.scopes_supported?.includes(one)) : [];
  if (!scopes.includes('openid')) {
    const text = `${variableOf('SCOPE')} has no openid: the provider answers no ID token`;
    yield { check: 'scopes', status: 'fail', text, remedy: 'add openid' };
  } else if (unknown.length > 0) {
    const text = `the provider does not name the scopes ${unknown.join(', ')}`;
    yield { check: 'scopes', status: 'warn', text, remedy: `correct ${variableOf('SCOPE')}` };
  } else yield { check: 'scopes', status: 'ok', text: scopes.join(' ') };
  yield describeClaim(value<string>('IDENTIFIER_KEY'), variableOf('IDENTIFIER_KEY'), server);
}

function describeClaim(key: string, variable: string, server: client.ServerMetadata): ProviderFinding {
  const claims = server.claims_supported as readonly string[] | undefined;
  if (!Array.isArray(claims) || claims.includes(key.split('.')[0] as string))
    return { check: 'identifier', status: 'ok', text: `users are identified by the claim ${key}` };
  const text = `the provider does not name the claim ${key}, by which users are identified`;
  return { check: 'identifier', status: 'warn', text, remedy: `correct ${variable}, or try a sign-in` };
}

async function checkKeys(server: client.ServerMetadata, call: ProviderCall): Promise<ProviderFinding> {
  const check = 'keys';
  const address = String(server.jwks_uri);
  const remedy = 'see whether the address answers a key set from this machine';
  const attempt = await attemptCheck(check, remedy, async () => {
    const answer = await call.fetch(address);
    if (answer.status !== 200) throw new Error(`${address} answers ${answer.status}`);
    const { keys } = Object((await answer.json().catch(() => undefined)) as unknown) as { keys?: unknown };
    if (!Array.isArray(keys)) throw new Error(`${address} answers no key set`);
    const usable = keys.filter((key) => ['RSA', 'EC', 'OKP'].includes(key?.kty) && (key.use ?? 'sig') === 'sig');
    if (usable.length === 0) throw new Error(`${address} has no key that signs`);
    return usable.length;
  });
  if (attempt.value === undefined) return attempt.failure as ProviderFinding;
  return { check, status: 'ok', text: `${attempt.value} that sign, at ${address}` };
}

const describeSignOut = ({ end_session_endpoint: address }: client.ServerMetadata): ProviderFinding => ({
  check: 'sign-out',
  status: 'ok',
  text: address ? `at ${address}` : 'the provider has none: sessions there go on',
});

import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTPayload, jwtVerify } from 'jose';
import type { ServerMetadata } from 'openid-client';
import { fail } from '#kernel';
import type { ProviderCall, ProviderSettings } from '../auth-providers/contract.ts';

/** What a logout token says is over: a session of the provider, or all of its user. At least one is there. */
export interface EndedSessions {
  readonly subject: string | undefined;
  readonly session: string | undefined;
}

export type VerifyLogoutToken = (token: string, server: ServerMetadata, call: ProviderCall) => Promise<EndedSessions>;

const EVENT = 'http://schemas.openid.net/event/backchannel-logout';
/** Seconds for which a logout token counts after it was issued. */
const MAX_AGE = 300;
/** Milliseconds between requests for keys, since any client can send a token with an unknown key. */
const KEYS_INTERVAL = 60_000;
const MAX_LENGTH = 8000;

interface Options {
  readonly provider: ProviderSettings;
  readonly algorithms: readonly string[];
}

/**
 * Verifies logout tokens (OpenID Connect Back-Channel Logout 1.0, 2.6): signature by a key of the provider, issuer, audience, age, the
 * event, and that the token was not used before. @throws INVALID_CREDENTIALS
 */
export function createLogoutTokenVerifier({ provider, algorithms }: Options): VerifyLogoutToken {
  let known: { readonly keys: JSONWebKeySet; readonly at: number } | undefined;

  async function fetchKeys(address: string, call: ProviderCall): Promise<JSONWebKeySet> {
    const answer = await call.fetch(address);
    const body = (await answer.json().catch(() => undefined)) as JSONWebKeySet | undefined;
    if (answer.status !== 200 || !Array.isArray(body?.keys))
      throw fail('SERVICE_UNAVAILABLE', 'The sign-in provider cannot be used.');
    known = { keys: body, at: performance.now() };
    return body;
  }

  async function verify(token: string, server: ServerMetadata, call: ProviderCall): Promise<JWTPayload> {
    const address = String(server.jwks_uri);
    const tolerance = provider.value<number>('CLOCK_TOLERANCE') / 1000;
    const verifyWith = async (keys: JSONWebKeySet) => {
      const { payload, protectedHeader } = await jwtVerify(token, createLocalJWKSet(keys), {
        issuer: server.issuer,
        audience: provider.value<string>('CLIENT_ID'),
        algorithms: [...algorithms],
        clockTolerance: tolerance,
        maxTokenAge: MAX_AGE,
      });
      if (!/^(logout\+)?jwt$/i.test(protectedHeader.typ ?? 'jwt')) throw new Error('it is a token of another kind');
      return payload;
    };
    const isFresh = known !== undefined && performance.now() - known.at < KEYS_INTERVAL;
    const keys = known?.keys ?? (await fetchKeys(address, call));
    try {
      return await verifyWith(keys);
    } catch (error) {
      // The provider may have new keys.
      if (!(error instanceof errors.JWKSNoMatchingKey) || isFresh || keys !== known?.keys) throw error;
      return verifyWith(await fetchKeys(address, call));
    }
  }

  return async (token, server, call) => {
    const refuse = (reason: string) => fail('INVALID_CREDENTIALS', `a logout token is refused: ${reason}`);
    if (token === '' || token.length > MAX_LENGTH) throw refuse('it is missing or too long');
    const claims = await verify(token, server, call).catch((error) => {
      if (error?.code === 'SERVICE_UNAVAILABLE') throw error;
      throw refuse((error as Error).message);
    });
    const { sub, sid, jti, nonce, events } = claims as Readonly<Record<string, unknown>>;
    const event = Object(events) as Readonly<Record<string, unknown>>;
    if (!Object.hasOwn(event, EVENT) || Object(event[EVENT]) !== event[EVENT]) throw refuse('it is about no logout');
    // An ID token has a nonce, and must not be taken for a logout token.
    if (nonce !== undefined) throw refuse('it has a nonce');
    const [subject, session] = [sub, sid].map((one) => (typeof one === 'string' && one !== '' ? one : undefined));
    if (subject === undefined && session === undefined) throw refuse('it names neither a user nor a session');
    if (typeof jti !== 'string' || jti === '') throw refuse('it has no id');
    const lifetime = 2 * (MAX_AGE * 1000 + provider.value<number>('CLOCK_TOLERANCE'));
    if (!(await provider.useOnce(`logout token ${jti}`, lifetime))) throw refuse('it was used before');
    return { subject, session };
  };
}

import jwt from 'jsonwebtoken';
import { LRUCache } from 'lru-cache';
import { fail } from '#kernel';
import { findSigningSecret, TOKEN_ALGORITHM, TOKEN_ISSUER, type TokenSecrets } from './token-secrets.ts';

/** The claims of an access token. Clients that decode the token depend on these names. */
export interface AccessTokenClaims {
  readonly id: string | null;
  readonly role: string | null;
  readonly app_access: boolean;
  readonly admin_access: boolean;
  /** Of visitors of a share: its key, and the shared item. */
  readonly share?: string;
  readonly share_scope?: { readonly collection: string; readonly item: string };
  readonly [other: string]: unknown;
}

/** A token whose signature was checked; good until `expires` (milliseconds). */
export interface VerifiedAccessToken {
  readonly claims: AccessTokenClaims;
  readonly expires: number;
}

export interface AccessTokenCodec {
  sign(claims: AccessTokenClaims): string;
  /** Undefined for a text that is no access token of this service: it may be a static token. @throws INVALID_TOKEN, TOKEN_EXPIRED */
  verify(token: string): VerifiedAccessToken | undefined;
}

interface Options {
  readonly secrets: () => TokenSecrets;
  /** Milliseconds. */
  readonly lifetime: number;
  readonly remembered?: number;
}

/**
 * Signs and verifies access tokens. Verifying a signature costs more than the rest of a small read, so verified tokens are
 * cached until they expire.
 */
export function createAccessTokenCodec({ secrets, lifetime, remembered = 5000 }: Options): AccessTokenCodec {
  const known = new LRUCache<string, VerifiedAccessToken>({ max: remembered });

  function check(token: string): VerifiedAccessToken {
    try {
      const options = { algorithms: [TOKEN_ALGORITHM], issuer: TOKEN_ISSUER } satisfies jwt.VerifyOptions;
      const claims = jwt.verify(token, findSigningSecret(token, secrets()), options) as Record<string, unknown>;
      const { exp } = claims;
      // Tokens with a purpose, such as links in mails, are signed with the same secret and are no access tokens.
      if (typeof exp !== 'number' || 'scope' in claims || !isClaims(claims))
        throw fail('INVALID_TOKEN', 'it is no access token');
      return { claims, expires: exp * 1000 };
    } catch (error) {
      if (error instanceof jwt.TokenExpiredError) throw expired();
      if (error instanceof jwt.JsonWebTokenError) throw fail('INVALID_TOKEN', error.message);
      throw error;
    }
  }

  return {
    sign(claims) {
      const iat = Math.floor(Date.now() / 1000);
      const payload = { ...claims, iat, exp: iat + Math.ceil(lifetime / 1000), iss: TOKEN_ISSUER };
      return jwt.sign(payload, secrets().current, { algorithm: TOKEN_ALGORITHM });
    },
    verify(token) {
      let verified = known.get(token);
      if (!verified) {
        if (issuerOf(token) !== TOKEN_ISSUER) return undefined;
        verified = check(token);
        known.set(token, verified);
      }
      if (verified.expires > Date.now()) return verified;
      known.delete(token);
      throw expired();
    },
  };
}

const expired = () => fail('TOKEN_EXPIRED', 'the access token is too old');

const isName = (value: unknown) => value === null || typeof value === 'string';
const isClaims = (claims: Record<string, unknown>): claims is AccessTokenClaims =>
  isName(claims.id) &&
  isName(claims.role) &&
  typeof claims.app_access === 'boolean' &&
  typeof claims.admin_access === 'boolean';

/** The issuer of a text that has the form of a token; its signature is not verified yet. */
function issuerOf(token: string): unknown {
  if (token.split('.', 4).length !== 3) return undefined;
  try {
    return (jwt.decode(token, { json: true }) as { iss?: unknown } | null)?.iss;
  } catch {
    return undefined;
  }
}

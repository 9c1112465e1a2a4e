import jwt from 'jsonwebtoken';
import { fail } from '#kernel';
import type { LinkTokens } from './contract.ts';
import { findSigningSecret, TOKEN_ALGORITHM, TOKEN_ISSUER, type TokenSecrets } from './token-secrets.ts';

/** Claims of the token itself, which a purpose cannot set. */
const RESERVED = ['iss', 'iat', 'exp', 'scope'] as const;

/**
 * Signs tokens for links in mails. They have the issuer of access tokens, so that such a token in place of an access token is
 * INVALID_TOKEN and is not looked up as a static token, and `scope`, which no access token has.
 */
export function createLinkTokens(secrets: () => TokenSecrets): LinkTokens {
  function verified(token: string, secret: string): Record<string, unknown> {
    try {
      return jwt.verify(token, secret, { algorithms: [TOKEN_ALGORITHM], issuer: TOKEN_ISSUER }) as Record<
        string,
        unknown
      >;
    } catch (error) {
      if (error instanceof jwt.TokenExpiredError) throw fail('TOKEN_EXPIRED', 'the link is too old');
      if (error instanceof jwt.JsonWebTokenError) throw fail('INVALID_TOKEN', error.message);
      throw error;
    }
  }

  return {
    sign(purpose, claims, lifetime) {
      const taken = RESERVED.find((name) => name in claims);
      if (taken) throw new Error(`the claim ${taken} belongs to the token`);
      const iat = Math.floor(Date.now() / 1000);
      const exp = iat + Math.ceil(lifetime / 1000);
      return jwt.sign({ ...claims, scope: purpose, iat, exp, iss: TOKEN_ISSUER }, secrets().current, {
        algorithm: TOKEN_ALGORITHM,
      });
    },

    verify(purpose, token) {
      if (typeof token !== 'string') throw fail('INVALID_TOKEN', 'the token is no text');
      const claims = verified(token, findSigningSecret(token, secrets()));
      if (claims.scope !== purpose || typeof claims.exp !== 'number')
        throw fail('INVALID_TOKEN', `the token is not for ${purpose}`);
      return claims;
    },
  };
}

import jwt from 'jsonwebtoken';

/** What tokens are signed with: `current` signs, and those of `previous` (SECRET_PREVIOUS) verify as well. */
export interface TokenSecrets {
  readonly current: string;
  readonly previous: readonly string[];
}

/** The issuer of every token of this service; a token of another issuer is looked up as a static token. */
export const TOKEN_ISSUER = 'service';
export const TOKEN_ALGORITHM = 'HS256';

/** The secrets of SECRET_PREVIOUS: a list of texts, and the whole text, since a single secret may contain commas. */
export function parsePreviousSecrets(setting = ''): readonly string[] {
  const secrets = [setting, ...setting.split(',').map((secret) => secret.trim())];
  return [...new Set(secrets)].filter((secret) => secret !== '');
}

/** The secret that signed a token; the current one where none did, and the token is refused by it. */
export function findSigningSecret(token: string, { current, previous }: TokenSecrets): string {
  if (previous.length === 0) return current;
  return [current, ...previous].find((secret) => isSignedBy(token, secret)) ?? current;
}

function isSignedBy(token: string, secret: string): boolean {
  try {
    jwt.verify(token, secret, { algorithms: [TOKEN_ALGORITHM], ignoreExpiration: true });
    return true;
  } catch {
    return false;
  }
}

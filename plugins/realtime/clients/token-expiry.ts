/**
 * When an access token expires, in milliseconds since 1970; undefined for a static token. Its signature was verified by `identity`: here
 * only the date is read.
 */
export function tokenExpiryOf(token: string): number | undefined {
  const [, claims, signature] = token.split('.', 4);
  if (claims === undefined || signature === undefined) return undefined;
  try {
    const { exp } = JSON.parse(Buffer.from(claims, 'base64url').toString()) as { exp?: unknown };
    return typeof exp === 'number' ? exp * 1000 : undefined;
  } catch {
    return undefined;
  }
}

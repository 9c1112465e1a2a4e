import jwt from 'jsonwebtoken';
import { TEST_SECRET } from './service.ts';

const payloadOf = (token: string): Record<string, unknown> =>
  jwt.decode(token, { json: true }) as Record<string, unknown>;

const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

/** The same claims, signed anew by the secret of the service. An undefined claim is left out. */
export function signChangedLinkToken(token: string, changes: object, secret = TEST_SECRET): string {
  const claims = Object.entries({ ...payloadOf(token), ...changes }).filter(([, value]) => value !== undefined);
  return jwt.sign(Object.fromEntries(claims), secret, { algorithm: 'HS256', noTimestamp: true });
}

/** Texts that are made of a valid token and that no route may take for one, by what is wrong with them. */
export function forgeLinkTokens(token: string): Readonly<Record<string, string>> {
  const [head = '', body = '', signature = ''] = token.split('.');
  const claims = payloadOf(token);
  const unsigned = (algorithm: string) => `${encode({ alg: algorithm, typ: 'JWT' })}.${body}.`;
  return {
    'no token': 'x',
    'an empty text': '',
    'two parts': `${head}.${body}`,
    'four parts': `${token}.x`,
    'without its signature': `${head}.${body}.`,
    'another signature': `${head}.${body}.${signature.slice(0, -4)}AAAA`,
    'other claims under its signature': `${head}.${encode({ ...claims, id: '00000000-0000-4000-8000-000000000000' })}.${signature}`,
    'alg none': unsigned('none'),
    'alg None': unsigned('None'),
    'alg NONE with its signature': `${encode({ alg: 'NONE', typ: 'JWT' })}.${body}.${signature}`,
    'alg HS512': jwt.sign(claims, TEST_SECRET, { algorithm: 'HS512' }),
    'alg HS384': jwt.sign(claims, TEST_SECRET, { algorithm: 'HS384' }),
    'signed by another secret': signChangedLinkToken(token, {}, 'another secret'),
    'signed by an empty key': `${encode({ alg: 'HS256', typ: 'JWT' })}.${body}.${''}`,
    'of another issuer': signChangedLinkToken(token, { iss: 'elsewhere' }),
    'without an issuer': signChangedLinkToken(token, { iss: undefined }),
    'without an end': signChangedLinkToken(token, { exp: undefined }),
    'without a purpose': signChangedLinkToken(token, { scope: undefined }),
    'of the purpose "share"': signChangedLinkToken(token, { scope: 'share' }),
    'with a list of purposes': signChangedLinkToken(token, { scope: [claims.scope] }),
    'without an id': signChangedLinkToken(token, { id: undefined }),
    'with an id that is a list': signChangedLinkToken(token, { id: [claims.id] }),
    'with an id that is SQL': signChangedLinkToken(token, { id: "' or true --" }),
    'without a digest': signChangedLinkToken(token, { digest: undefined }),
    'with an empty digest': signChangedLinkToken(token, { digest: '' }),
    'with the id of another user': signChangedLinkToken(token, { id: '00000000-0000-4000-8000-000000000000' }),
  };
}

/** The same token, expired for a second. */
export const expireLinkToken = (token: string): string =>
  signChangedLinkToken(token, { exp: Math.floor(Date.now() / 1000) - 1 });

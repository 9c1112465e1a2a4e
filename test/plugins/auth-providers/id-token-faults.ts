import { generateKeyPairSync } from 'node:crypto';
import jwt from 'jsonwebtoken';
import type { OpenIdServerFaults } from '../../support/openid-server.ts';

const OTHER_KEY = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
/** ID tokens that prove nothing, and what is wrong with each. */
export const ID_TOKEN_FAULTS: readonly (readonly [what: string, faults: OpenIdServerFaults])[] = [
  ['tampered', { sign: (claims, honest) => tamper(honest, { ...claims, sub: 'admin' }) }],
  ['expired', { claims: (claims) => Object.assign(claims, { iat: 1_000, exp: 2_000 }) }],
  [
    'issued in the future',
    { claims: (claims) => Object.assign(claims, { nbf: Math.floor(Date.now() / 1000) + 3600 }) },
  ],
  ['foreign-signed', { sign: (claims) => jwt.sign(claims, OTHER_KEY, { algorithm: 'RS256', keyid: 'one' }) }],
  ['wrong audience', { claims: (claims) => Object.assign(claims, { aud: 'another-client' }) }],
  [
    'several audiences, for another',
    { claims: (claims) => Object.assign(claims, { aud: ['service', 'x'], azp: 'x' }) },
  ],
  ['wrong issuer', { claims: (claims) => Object.assign(claims, { iss: 'https://evil.example.com' }) }],
  ['wrong nonce', { claims: (claims) => Object.assign(claims, { nonce: 'another' }) }],
  ['no nonce', { claims: (claims) => delete claims.nonce }],
  [
    'algorithm confusion: HS256 by the public key',
    {
      sign: (claims, _honest, { publicKey }) => {
        const pem = publicKey.export({ type: 'spki', format: 'pem' }) as string;
        return hmacSigned(claims, pem);
      },
    },
  ],
  [
    'algorithm confusion: HS256 by the client secret',
    { sign: (claims, _honest, { secret }) => hmacSigned(claims, secret) },
  ],
  ['algorithm confusion: none', { sign: (claims) => jwt.sign(claims, '', { algorithm: 'none' }) }],
  ['no signature', { sign: (_claims, honest) => `${honest.split('.').slice(0, 2).join('.')}.` }],
];

function tamper(token: string, claims: object): string {
  const [header, , signature] = token.split('.');
  return [header, Buffer.from(JSON.stringify(claims)).toString('base64url'), signature].join('.');
}

/** Signs by hand, because the library refuses a public key as a secret. */
function hmacSigned(claims: object, secret: string): string {
  return jwt.sign(claims, Buffer.from(secret), { algorithm: 'HS256', keyid: 'one', allowInsecureKeySizes: true });
}

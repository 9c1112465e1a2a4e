import { expect } from 'chai';
import jwt from 'jsonwebtoken';
import { createAccessTokenCodec } from '../../../plugins/auth/access-tokens.ts';

const SECRET = 'one secret';
const claims = { id: 'u', role: 'r', app_access: true, admin_access: false };
const signed = (payload: object, secret = SECRET, options: jwt.SignOptions = {}) => jwt.sign(payload, secret, options);
const ours = { ...claims, iss: 'service' };

const codeOf = (work: () => unknown): unknown => {
  try {
    work();
    return undefined;
  } catch (error) {
    return (error as { code?: string }).code;
  }
};

describe('access tokens', () => {
  const tokens = createAccessTokenCodec({ secrets: () => ({ current: SECRET, previous: [] }), lifetime: 60_000 });

  it('verify() answers the claims that were signed', () => {
    const before = Date.now();
    const token = tokens.sign(claims);
    const verified = tokens.verify(token);
    expect(verified?.claims).to.include({ ...claims, iss: 'service' });
    expect(verified?.expires).to.be.within(before + 58_000, Date.now() + 60_000);
    expect(tokens.verify(token)).to.equal(verified);
  });

  it('verify() answers undefined for tokens of another issuer and for texts that are no token', () => {
    for (const text of [
      '',
      'static',
      'a.b.c',
      'a.b',
      signed({ ...claims, iss: 'elsewhere' }),
      signed(claims),
      'x'.repeat(5000),
    ]) {
      expect(tokens.verify(text), text).to.equal(undefined);
    }
  });

  it('verify() rejects another signature, algorithm or purpose with INVALID_TOKEN', () => {
    const wrong = [
      signed(ours, 'another secret', { expiresIn: 60 }),
      signed(ours, SECRET, { expiresIn: 60, algorithm: 'HS512' }),
      signed(ours, '', { expiresIn: 60, algorithm: 'none' }),
      signed({ ...ours, scope: 'password-reset' }, SECRET, { expiresIn: 60 }),
      signed({ ...ours, admin_access: 'yes' }, SECRET, { expiresIn: 60 }),
      signed(ours),
      `${signed(ours, SECRET, { expiresIn: 60 }).slice(0, -3)}abc`,
    ];
    for (const token of wrong) expect(codeOf(() => tokens.verify(token))).to.equal('INVALID_TOKEN');
  });

  it('verify() rejects an expired token with TOKEN_EXPIRED, cached or not', () => {
    expect(codeOf(() => tokens.verify(signed({ ...ours, exp: Math.floor(Date.now() / 1000) - 5 })))).to.equal(
      'TOKEN_EXPIRED',
    );
    const clock = Date.now;
    const token = tokens.sign(claims);
    tokens.verify(token);
    try {
      Date.now = () => clock() + 60_001;
      expect(codeOf(() => tokens.verify(token))).to.equal('TOKEN_EXPIRED');
    } finally {
      Date.now = clock;
    }
  });
});

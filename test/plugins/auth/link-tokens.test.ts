import { expect } from 'chai';
import jwt from 'jsonwebtoken';
import { createAccessTokenCodec } from '../../../plugins/auth/access-tokens.ts';
import { createLinkTokens } from '../../../plugins/auth/link-tokens.ts';

const NEW = 'the secret of today';
const OLD = 'the secret of yesterday';

const codeOf = (work: () => unknown): unknown => {
  try {
    work();
    return undefined;
  } catch (error) {
    return (error as { code?: string }).code;
  }
};

describe('link tokens', () => {
  const secrets = () => ({ current: NEW, previous: [OLD] });
  const links = createLinkTokens(secrets);
  const access = createAccessTokenCodec({ secrets, lifetime: 60_000 });
  const old = { secrets: () => ({ current: OLD, previous: [] }), lifetime: 60_000 };

  it('verify() answers the claims of a token for the same purpose', () => {
    expect(links.verify('invitation', links.sign('invitation', { user: 'u' }, 1000))).to.include({ user: 'u' });
  });

  it('verify() rejects other purposes, access tokens, foreign signatures and other algorithms with INVALID_TOKEN', () => {
    const claims = { user: 'u', scope: 'invitation', iss: 'service' };
    const wrong = [
      links.sign('password-reset', { user: 'u' }, 1000),
      access.sign({ id: 'u', role: null, app_access: false, admin_access: false }),
      jwt.sign(claims, 'foreign', { expiresIn: 60 }),
      jwt.sign(claims, NEW, { expiresIn: 60, algorithm: 'HS512' }),
      jwt.sign(claims, '', { expiresIn: 60, algorithm: 'none' }),
      jwt.sign({ ...claims, iss: 'elsewhere' }, NEW, { expiresIn: 60 }),
      jwt.sign(claims, NEW),
      'no token',
    ];
    for (const token of wrong)
      expect(
        codeOf(() => links.verify('invitation', token)),
        token,
      ).to.equal('INVALID_TOKEN');
  });

  it('verify() rejects an expired token with TOKEN_EXPIRED', () => {
    const token = links.sign('invitation', {}, -5000);
    expect(codeOf(() => links.verify('invitation', token))).to.equal('TOKEN_EXPIRED');
  });

  it('a link token in place of an access token is INVALID_TOKEN', () => {
    expect(codeOf(() => access.verify(links.sign('invitation', { id: 'u' }, 1000)))).to.equal('INVALID_TOKEN');
  });

  it('tokens signed by a secret of SECRET_PREVIOUS verify, and new ones are signed by SECRET', () => {
    const claims = { id: 'u', role: null, app_access: false, admin_access: false };
    expect(access.verify(createAccessTokenCodec(old).sign(claims))?.claims).to.include(claims);
    expect(links.verify('invitation', createLinkTokens(old.secrets).sign('invitation', { a: 1 }, 1000)).a).to.equal(1);
    expect(codeOf(() => jwt.verify(access.sign(claims), NEW))).to.equal(undefined);
    expect(codeOf(() => createAccessTokenCodec(old).verify(access.sign(claims)))).to.equal('INVALID_TOKEN');
  });
});

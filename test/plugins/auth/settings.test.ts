import { expect } from 'chai';
import { FIRST_ADMIN_CREDENTIALS, startService } from '../../support/service.ts';
import { captureError } from '../../support/test-plugins.ts';
import { statusAndCodeOf } from '../users/test-users.ts';

describe('settings of auth', () => {
  it('AUTH_DISABLE_DEFAULT removes POST /auth/login', async function () {
    this.timeout(120_000);
    const service = await startService({ env: { AUTH_DISABLE_DEFAULT: 'true' } });
    try {
      const { status, body } = await service.request('POST', '/auth/login', { body: FIRST_ADMIN_CREDENTIALS });
      expect([status, body.errors[0].extensions.code]).to.deep.equal([404, 'ROUTE_NOT_FOUND']);
    } finally {
      await service.stop();
    }
  });

  it('settings that cannot work stop the start', async () => {
    const error = await captureError(startService({ env: { REFRESH_TOKEN_COOKIE_SAME_SITE: 'none' } }));
    expect(error.message).to.contain('REFRESH_TOKEN_COOKIE_SECURE');
    expect(error).to.include({ plugin: '@tenon/auth', phase: 'register' });
  });

  it('GET /auth lists the providers and disableDefault', async function () {
    this.timeout(120_000);
    const service = await startService({ env: { ACCESS_TOKEN_TTL: '1m' } });
    try {
      expect((await service.request('GET', '/auth')).body).to.deep.equal({ data: [], disableDefault: false });
      const { email, password } = service.admin;
      expect((await service.request('POST', '/auth/login', { body: { email, password } })).body.data.expires).to.equal(
        60_000,
      );
      expect(statusAndCodeOf(await service.request('GET', '/auth/login'))[0]).to.be.oneOf([404, 405]);
    } finally {
      await service.stop();
    }
  });
});

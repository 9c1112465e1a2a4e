import { expect } from 'chai';
import { createRefreshCookie, type RefreshCookieConfig } from '../../../plugins/auth/refresh-cookie.ts';
import type { HttpContext } from '../../../plugins/http/contract.ts';

const config: RefreshCookieConfig = {
  REFRESH_TOKEN_COOKIE_NAME: 'service_refresh_token',
  REFRESH_TOKEN_COOKIE_SECURE: false,
  REFRESH_TOKEN_COOKIE_SAME_SITE: 'lax',
  REFRESH_TOKEN_COOKIE_DOMAIN: undefined,
  REFRESH_TOKEN_TTL: 604_800_000,
};

function written(change: Partial<RefreshCookieConfig>): string {
  let text = '';
  const ctx = { res: { appendHeader: (_name: string, value: string) => (text = value) } };
  createRefreshCookie({ ...config, ...change }).write(ctx as unknown as HttpContext, 'abc');
  return text;
}

const read = (cookie: string | undefined) =>
  createRefreshCookie(config).read({ req: { headers: { cookie } } } as unknown as HttpContext);

describe('the refresh cookie', () => {
  it('has Path=/ and HttpOnly', () => {
    expect(written({})).to.equal('service_refresh_token=abc; Max-Age=604800; Path=/; HttpOnly; SameSite=Lax');
  });

  it('has the attributes of its settings', () => {
    const change = {
      REFRESH_TOKEN_COOKIE_NAME: 'mine',
      REFRESH_TOKEN_COOKIE_SECURE: true,
      REFRESH_TOKEN_COOKIE_SAME_SITE: 'none',
      REFRESH_TOKEN_COOKIE_DOMAIN: 'example.com',
    } as const;
    expect(written(change)).to.equal(
      'mine=abc; Max-Age=604800; Path=/; Domain=example.com; HttpOnly; Secure; SameSite=None',
    );
  });

  it('settings that no browser would accept are rejected with INVALID_CONFIG', () => {
    expect(() => createRefreshCookie({ ...config, REFRESH_TOKEN_COOKIE_SAME_SITE: 'none' })).to.throw('SECURE');
    expect(() => createRefreshCookie({ ...config, REFRESH_TOKEN_COOKIE_NAME: 'a b' })).to.throw('NAME');
    expect(() => createRefreshCookie({ ...config, REFRESH_TOKEN_COOKIE_DOMAIN: 'a; b' })).to.throw('DOMAIN');
  });

  it('is found among other cookies', () => {
    expect(read('a=1; service_refresh_token=xyz; b=2')).to.equal('xyz');
    expect(read('xservice_refresh_token=xyz')).to.equal(undefined);
    expect(read('service_refresh_token=')).to.equal(undefined);
    expect(read(undefined)).to.equal(undefined);
  });
});

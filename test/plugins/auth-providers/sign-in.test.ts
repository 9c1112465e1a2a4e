import { expect } from 'chai';
import { createCookieBrowser } from '../../support/cookie-browser.ts';
import { type ProviderFixture, startProviderFixture, userOf } from './provider-fixture.ts';

describe('sign-in by a provider', () => {
  let fixture: ProviderFixture;
  before(async function () {
    this.timeout(120_000);
    fixture = await startProviderFixture();
  });
  after(() => fixture?.stop());

  let count = 0;
  const newUser = (more: Record<string, unknown> = {}) => {
    const sub = `user-${++count}`;
    return { sub, email: `${sub}@example.com`, email_verified: true, given_name: 'Ann', family_name: 'Lee', ...more };
  };
  const numberOfUsers = async (email: string) => {
    const sql = 'select count(*)::int as count from platform_users where lower(email) = lower($1)';
    return (await fixture.service.database.query<{ count: number }>(sql, [email]))[0]?.count;
  };

  for (const provider of ['oidc', 'plain']) {
    it(`${provider}: the first sign-in registers the user, the second finds the same one`, async () => {
      fixture.server.user = newUser();
      const first = await fixture.signIn(provider);
      expect([first.status, first.code]).to.deep.equal([200, undefined]);
      expect(first.body.data).to.have.all.keys('access_token', 'refresh_token', 'expires');
      const me = await fixture.service.request('GET', '/users/me?fields=*,role,provider', {
        token: first.body.data.access_token,
      });
      expect(me.body.data).to.include({ email: fixture.server.user.email, first_name: 'Ann', last_name: 'Lee' });
      const user = await userOf(fixture.service, String(fixture.server.user.email));
      expect(user).to.include({
        provider,
        external_identifier: fixture.server.user.sub,
        role: fixture.roles.member,
      });
      const second = await fixture.signIn(provider);
      expect(second.status).to.equal(200);
      expect(await numberOfUsers(String(fixture.server.user.email))).to.equal(1);
    });
  }

  it('ten simultaneous first sign-ins of one user make one user and ten sessions', async () => {
    fixture.server.user = newUser();
    const all = await Promise.all(Array.from({ length: 10 }, () => fixture.signIn('oidc')));
    expect(all.map(({ status }) => status)).to.deep.equal(Array(10).fill(200));
    expect(await numberOfUsers(String(fixture.server.user.email))).to.equal(1);
  });

  it('a change of groups moves the role, and leaving the group takes it away', async () => {
    const user = newUser();
    const roleAfter = async (groups: readonly string[] | undefined) => {
      fixture.server.user = { ...user, groups };
      expect((await fixture.signIn('oidc')).status).to.equal(200);
      return (await userOf(fixture.service, user.email))?.role;
    };
    expect(await roleAfter(undefined)).to.equal(fixture.roles.member);
    expect(await roleAfter(['staff', 'editors'])).to.equal(fixture.roles.editor);
    expect(await roleAfter(['staff'])).to.equal(fixture.roles.member);
  });

  it('a provider without ROLE_MAPPING leaves the role that an admin set', async () => {
    fixture.server.user = newUser({ groups: ['editors'] });
    await fixture.signIn('other');
    const user = await userOf(fixture.service, String(fixture.server.user.email));
    const { service } = fixture;
    await service.request('PATCH', `/users/${user?.id}`, {
      token: service.admin.token,
      body: { role: fixture.roles.editor },
    });
    await fixture.signIn('other');
    expect((await userOf(service, String(fixture.server.user.email)))?.role).to.equal(fixture.roles.editor);
  });

  it('SYNC_USER_INFO takes over a new name, and not the e-mail address of another user', async () => {
    const taken = newUser();
    fixture.server.user = taken;
    await fixture.signIn('oidc');
    const user = newUser();
    fixture.server.user = user;
    await fixture.signIn('oidc');
    fixture.server.user = { ...user, given_name: 'Bea', email: taken.email };
    expect((await fixture.signIn('oidc')).status).to.equal(200);
    expect(await userOf(fixture.service, user.email)).to.include({ first_name: 'Bea' });
    expect(await numberOfUsers(taken.email)).to.equal(1);
  });

  it('an e-mail address that is none is left out, and names are cut to what their columns take', async () => {
    const user = newUser({ email: 'no address', given_name: 'x'.repeat(60) });
    fixture.server.user = user;
    expect((await fixture.signIn('oidc')).status).to.equal(200);
    const sql = 'select email, length(first_name) as length from platform_users where external_identifier = $1';
    expect(await fixture.service.database.query(sql, [user.sub])).to.deep.equal([{ email: null, length: 50 }]);
  });

  it('a user whom an admin prepared for the provider is linked by a verified e-mail address', async () => {
    const user = newUser();
    const { service } = fixture;
    const reply = await service.request('POST', '/users', {
      token: service.admin.token,
      body: { email: user.email.toUpperCase(), provider: 'oidc', role: fixture.roles.member },
    });
    expect(reply.status).to.equal(200);
    fixture.server.user = { ...user, email_verified: false };
    expect((await fixture.signIn('oidc')).code).to.equal('RECORD_NOT_UNIQUE');
    fixture.server.user = user;
    expect((await fixture.signIn('oidc')).status).to.equal(200);
    expect(await numberOfUsers(user.email)).to.equal(1);
  });

  it('with redirect the cookie is set on the final redirect, and the refresh by it works', async () => {
    fixture.server.user = newUser();
    const { service } = fixture;
    const { status, location, browser } = await fixture.signIn('oidc', { query: '?redirect=/admin/users?page=2' });
    expect([status, location]).to.deep.equal([302, `${service.url}/admin/users?page=2`]);
    expect(browser.cookies.get(service.url)?.get('service_refresh_token')).to.be.a('string');
    const answer = await browser.send(`${service.url}/auth/refresh`, { method: 'POST' });
    expect(answer.status).to.equal(200);
  });

  it('mode cookie without redirect answers the access token, and the refresh token in the cookie', async () => {
    fixture.server.user = newUser();
    const { status, body, browser } = await fixture.signIn('oidc', { query: '?mode=cookie' });
    expect(status).to.equal(200);
    expect(body.data).to.have.all.keys('access_token', 'expires');
    expect(browser.cookies.get(fixture.service.url)?.get('service_refresh_token')).to.be.a('string');
  });

  it('a failure with redirect ends at that address with its reason', async () => {
    fixture.server.user = newUser();
    fixture.server.faults = {
      callback: (parameters) => {
        parameters.delete('code');
        parameters.set('error', 'access_denied');
      },
    };
    try {
      const { status, location } = await fixture.signIn('oidc', { query: '?redirect=https://app.example.com/done' });
      expect([status, location]).to.deep.equal([302, 'https://app.example.com/done?reason=INVALID_CREDENTIALS']);
    } finally {
      fixture.server.faults = {};
    }
  });

  it('a callback with a foreign state, as from a page of another site, does not end the sign-in that is under way', async () => {
    fixture.server.user = newUser();
    const browser = createCookieBrowser();
    const { url } = await browser.follow(`${fixture.service.url}/auth/login/oidc`, (at) =>
      at.pathname.endsWith('/callback'),
    );
    expect((await browser.send(`${url.origin}${url.pathname}?code=x&state=y`)).status).to.equal(403);
    expect((await browser.send(url.href)).status).to.equal(200);
  });

  it('GET /auth lists the providers in the order of their names with driver, icon and label', async () => {
    const { body } = await fixture.service.request('GET', '/auth');
    expect(body.data).to.deep.equal(
      [
        ['oidc', 'openid'],
        ['other', 'openid'],
        ['plain', 'oauth2'],
      ].map(([name, driver]) => ({ name, driver, icon: 'account_circle', label: name })),
    );
  });

  it('the sign-out of the provider gets the client and the address to return to', async () => {
    const { server, service } = fixture;
    const { send } = createCookieBrowser();
    const answer = await send(`${service.url}/auth/login/oidc/logout?redirect=/bye`);
    const location = new URL(answer.headers.get('location') ?? '');
    expect([answer.status, location.origin + location.pathname]).to.deep.equal([302, `${server.issuer}/logout`]);
    expect(Object.fromEntries(location.searchParams)).to.deep.equal({
      client_id: 'service',
      post_logout_redirect_uri: `${service.url}/bye`,
    });
    expect((await send(`${service.url}/auth/login/oidc/logout?redirect=https://evil.example.com/`)).status).to.equal(
      400,
    );
    expect((await send(`${service.url}/auth/login/plain/logout?redirect=/bye`)).headers.get('location')).to.equal(
      `${service.url}/bye`,
    );
  });
});

import { expect } from 'chai';
import { type CookieBrowser, createCookieBrowser } from '../../support/cookie-browser.ts';
import { PageClient } from '../sign-in-pages/page-client.ts';
import { codeOf, forgetUsedSteps, wrongCodeOf } from '../two-factor/two-factor-users.ts';
import { createUserSender, makeRole } from '../users/test-users.ts';
import {
  openIdSettings,
  type ProviderFixture,
  type SignInResult,
  startProviderFixture,
  userOf,
} from './provider-fixture.ts';

const PAGE = '/admin/login/code?provider=oidc';

/** A user of the provider whose second factor is on; the next sign-in at the provider is that of this user. */
interface EnrolledUser {
  readonly id: string;
  readonly secret: string;
}

let count = 0;

async function enrollUser({ service, server, signIn }: ProviderFixture): Promise<EnrolledUser> {
  const name = `second-${++count}`;
  server.user = { sub: name, email: `${name}@example.com`, email_verified: true };
  const first = await signIn('other');
  const role = await makeRole(service, { app_access: true, enforce_tfa: true });
  const user = await userOf(service, `${name}@example.com`);
  const id = String(user?.id);
  // The same user may sign in by the provider that each test names.
  await service.database.query('update platform_users set role = $2, provider = $3 where id = $1', [id, role, 'oidc']);
  const send = createUserSender(service, first.body.data.access_token);
  const { secret } = (await send('POST', '/users/me/tfa/generate', {})).body.data as { secret: string };
  const reply = await send('POST', '/users/me/tfa/enable', { secret, otp: codeOf(secret) });
  expect(reply.status, JSON.stringify(reply.body)).to.equal(204);
  await forgetUsedSteps(service.database);
  return { id, secret };
}

describe('a sign-in by redirect of a user with a second factor', function () {
  this.timeout(120_000);
  let fixture: ProviderFixture;
  let user: EnrolledUser;
  before(async () => {
    fixture = await startProviderFixture({
      env: { LOG_LEVEL: 'warn' },
      providers: (server) => openIdSettings('trusted', server, { TRUST_SECOND_FACTOR: 'true' }),
    });
  });
  after(() => fixture?.stop());
  beforeEach(async () => {
    user = await enrollUser(fixture);
  });

  const sendCode = async (body: unknown, browser: CookieBrowser = createCookieBrowser(), provider = 'oidc') => {
    const answer = await browser.send(`${fixture.service.url}/auth/login/${provider}/otp`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    // biome-ignore lint/suspicious/noExplicitAny: an answer of either kind
    const json = (await answer.json()) as any;
    return { status: answer.status, data: json.data, code: json.errors?.[0]?.extensions.code as string | undefined };
  };
  const ticketOf = ({ body }: SignInResult) => body.errors[0].extensions.ticket as string;
  const sessionsOf = async (id: string) =>
    (await fixture.service.database.query('select id from platform_sessions where "user" = $1', [id])).length;

  describe('in the mode json', () => {
    it('answers INVALID_OTP with a ticket and where to send it with a code, and opens no session', async () => {
      const before = await sessionsOf(user.id);
      const { status, body } = await fixture.signIn('oidc');
      expect(status).to.equal(401);
      const { code, continue_at, ticket } = body.errors[0].extensions;
      expect([code, continue_at, typeof ticket]).to.deep.equal(['INVALID_OTP', '/auth/login/oidc/otp', 'string']);
      expect(await sessionsOf(user.id)).to.equal(before);
    });

    it('is completed by ticket and code, once', async () => {
      const ticket = ticketOf(await fixture.signIn('oidc'));
      const done = await sendCode({ ticket, otp: codeOf(user.secret) });
      expect(done.status, JSON.stringify(done)).to.equal(200);
      expect(done.data).to.have.all.keys('access_token', 'expires', 'refresh_token');
      await forgetUsedSteps(fixture.service.database);
      expect((await sendCode({ ticket, otp: codeOf(user.secret) })).code).to.equal('INVALID_TOKEN');
    });

    it('takes another code after a wrong one', async () => {
      const ticket = ticketOf(await fixture.signIn('oidc'));
      expect((await sendCode({ ticket, otp: wrongCodeOf(user.secret) })).code).to.equal('INVALID_OTP');
      expect((await sendCode({ ticket, otp: codeOf(user.secret) })).status).to.equal(200);
    });

    it('opens one session of ten simultaneous uses of a ticket', async () => {
      const before = await sessionsOf(user.id);
      const ticket = ticketOf(await fixture.signIn('oidc'));
      const otp = codeOf(user.secret);
      const replies = await Promise.all(Array.from({ length: 10 }, () => sendCode({ ticket, otp })));
      expect(replies.filter(({ status }) => status === 200)).to.have.lengthOf(1);
      expect(await sessionsOf(user.id)).to.equal(before + 1);
    });

    it('refuses a ticket of another provider, a changed one, none, and bodies of another form', async () => {
      const ticket = ticketOf(await fixture.signIn('oidc'));
      const otp = codeOf(user.secret);
      const codes = [
        (await sendCode({ ticket, otp }, undefined, 'other')).code,
        (await sendCode({ ticket: `${ticket.slice(0, -4)}AAAA`, otp })).code,
        (await sendCode({ otp })).code,
        (await sendCode({ ticket })).code,
        (await sendCode({ ticket: 1, otp })).code,
        (await sendCode([])).code,
        (await sendCode({ ticket, otp }, undefined, 'nothing')).code,
      ];
      expect(codes).to.deep.equal([
        ...['INVALID_TOKEN', 'INVALID_TOKEN', 'INVALID_TOKEN', 'INVALID_PAYLOAD', 'INVALID_PAYLOAD', 'INVALID_PAYLOAD'],
        'ROUTE_NOT_FOUND',
      ]);
    });

    it('counts wrong codes as wrong passwords, and suspends the user', async () => {
      const { service } = fixture;
      const settings = (auth_login_attempts: number) =>
        service.request('PATCH', '/settings', { token: service.admin.token, body: { auth_login_attempts } });
      await settings(3);
      try {
        const codes: (string | undefined)[] = [];
        for (let guess = 0; guess < 4; guess++) {
          const { body } = await fixture.signIn('oidc');
          const ticket = body.errors[0].extensions.ticket;
          codes.push(
            ticket ? (await sendCode({ ticket, otp: wrongCodeOf(user.secret) })).code : body.errors[0].extensions.code,
          );
        }
        expect(codes).to.deep.equal(['INVALID_OTP', 'INVALID_OTP', 'INVALID_OTP', 'USER_SUSPENDED']);
      } finally {
        await settings(25);
      }
    });

    it('is refused for a user who was suspended while the code was awaited', async () => {
      const ticket = ticketOf(await fixture.signIn('oidc'));
      await fixture.service.database.query("update platform_users set status = 'suspended' where id = $1", [user.id]);
      expect((await sendCode({ ticket, otp: codeOf(user.secret) })).code).to.equal('USER_SUSPENDED');
    });
  });

  describe('in a browser', () => {
    /** Signs in up to the page, and answers a client of pages with the cookies of the browser. */
    async function openPage(query: string) {
      const result = await fixture.signIn('oidc', { query });
      const client = new PageClient(fixture.service.url);
      for (const [name, value] of result.browser.cookies.get(fixture.service.url) ?? [])
        client.cookies.set(name, value);
      return { result, client, page: await client.get(PAGE) };
    }

    it('is led to the page that asks for the code, and from there to its end, with the session', async () => {
      const { result, client, page } = await openPage('?redirect=/admin/login?redirect=%2Fadmin');
      expect(result.location).to.equal(`${fixture.service.url}${PAGE}`);
      expect([page.status, page.title]).to.deep.equal([200, 'Enter your code']);
      const wrong = await client.submit(page, PAGE, { otp: wrongCodeOf(user.secret) });
      expect([wrong.status, wrong.title, wrong.problem]).to.deep.equal([
        401,
        'Enter your code',
        'This code is not right, or it was used before. Wait for the next code of your app and try again.',
      ]);
      const done = await client.submit(wrong, PAGE, { otp: codeOf(user.secret) });
      expect([done.status, done.location]).to.deep.equal([303, `${fixture.service.url}/admin/login?redirect=/admin`]);
      expect([...client.cookies.keys()])
        .to.include('service_refresh_token')
        .and.not.to.include('service_second_factor_oidc');
      expect((await client.get('/admin')).text).to.contain('second-');
    });

    it('ends at an allowed address of another origin by a page, since forms may not lead there', async () => {
      const { client, page } = await openPage('?redirect=https://app.example.com/done');
      const done = await client.submit(page, PAGE, { otp: codeOf(user.secret) });
      expect([done.status, done.headers.get('refresh')]).to.deep.equal([200, '0; url=https://app.example.com/done']);
      expect(done.text).to.contain('<a href="https://app.example.com/done">');
    });

    it('shows the page again while too many codes are checked, and the begin where the ticket is used or not there', async () => {
      const { client, page } = await openPage('?redirect=/admin');
      const otherBrowser = new PageClient(fixture.service.url);
      const foreign = await otherBrowser.submit(await otherBrowser.get(PAGE), PAGE, { otp: codeOf(user.secret) });
      expect([foreign.status, foreign.title]).to.deep.equal([403, 'Please sign in again']);
      const cookies = new Map(client.cookies);
      await client.submit(page, PAGE, { otp: codeOf(user.secret) });
      await forgetUsedSteps(fixture.service.database);
      for (const [name, value] of cookies) client.cookies.set(name, value);
      const again = await client.submit(page, PAGE, { otp: codeOf(user.secret) });
      expect([again.status, again.title]).to.deep.equal([403, 'Please sign in again']);
    });

    it('keeps the ticket in a cookie that scripts cannot read, and which is no ticket of the mode json', async () => {
      const { result } = await openPage('?redirect=/admin');
      const ticket = result.browser.cookies.get(fixture.service.url)?.get('service_second_factor_oidc') as string;
      expect(ticket).to.match(/^[\w-]{400,4000}$/);
      expect((await sendCode({ ticket, otp: codeOf(user.secret) })).code).to.equal('INVALID_TOKEN');
      const done = await sendCode({ otp: codeOf(user.secret) }, result.browser);
      expect(done.data).to.have.all.keys('access_token', 'expires', 'redirect');
    });

    it('is refused by the page of a provider that is none of redirects', async () => {
      const { location } = await new PageClient(fixture.service.url).get('/admin/login/code?provider=default');
      expect(location).to.equal('./../../admin/login');
    });

    it('writes no line into the log, since a code is ordinary', async () => {
      await openPage('?redirect=/admin');
      expect(JSON.stringify(fixture.service.log)).not.to.contain('one-time code');
    });
  });

  it('needs no code by a provider with TRUST_SECOND_FACTOR', async () => {
    await fixture.service.database.query("update platform_users set provider = 'trusted' where id = $1", [user.id]);
    const { status, body } = await fixture.signIn('trusted');
    expect(status, JSON.stringify(body)).to.equal(200);
  });
});

describe('a sign-in by redirect of a user with a second factor, in a service without pages', function () {
  this.timeout(120_000);
  let fixture: ProviderFixture;
  before(async () => {
    fixture = await startProviderFixture({ without: ['sign-in-pages'] });
  });
  after(() => fixture?.stop());

  it('ends with INVALID_OTP as reason, and the app completes it with the cookie', async () => {
    const { secret } = await enrollUser(fixture);
    const { location, browser } = await fixture.signIn('oidc', { query: '?redirect=/app' });
    expect(location).to.equal(`${fixture.service.url}/app?reason=INVALID_OTP`);
    const answer = await browser.send(`${fixture.service.url}/auth/login/oidc/otp`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ otp: codeOf(secret) }),
    });
    expect(answer.status).to.equal(200);
    const cookies = [...(browser.cookies.get(fixture.service.url)?.keys() ?? [])];
    expect(cookies).to.have.members(['service_refresh_token', 'service_sign_out_oidc']);
  });
});

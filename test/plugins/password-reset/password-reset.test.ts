import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { expect } from 'chai';
import { expireLinkToken, forgeLinkTokens, signChangedLinkToken } from '../../support/forged-link-tokens.ts';
import { type MailLinks, startMailLinks, tokenOf } from '../../support/mail-links.ts';
import { type InProcessService, startService } from '../../support/service.ts';
import {
  createTestUserAccount,
  createUserSender,
  errorCodeOf,
  makeRole,
  type SendAsUser,
  statusAndCodeOf,
  type TestUserAccount,
} from '../users/test-users.ts';

const PAGE = 'https://app.example.com/new-password';
const NEW_PASSWORD = 'another password';

/** Sends JSON with headers that `fetch` sets itself, such as `Host`, and answers the status. */
async function sendWithHeaders(
  url: string,
  body: object,
  headers: Record<string, string>,
): Promise<number | undefined> {
  const sent = request(url, { method: 'POST', headers: { ...headers, 'content-type': 'application/json' } });
  sent.end(JSON.stringify(body));
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  response.resume();
  return response.statusCode;
}

describe('password reset', function () {
  this.timeout(180_000);
  let mails: MailLinks;
  let service: InProcessService;
  let admin: SendAsUser;
  let role: string;
  before(async () => {
    mails = await startMailLinks();
    service = await startService({
      env: {
        ...mails.env,
        PUBLIC_URL: 'https://content.example.com/api/',
        PASSWORD_RESET_URL_ALLOW_LIST: PAGE,
        LOG_LEVEL: 'trace',
      },
    });
    admin = createUserSender(service, service.admin.token);
    role = await makeRole(service, { app_access: true });
  });
  after(async () => {
    await service?.stop();
    await mails?.server.stop();
  });

  const post = (path: string, body: unknown) => service.request('POST', path, { body });
  const requestLink = (body: unknown) => post('/auth/password/request', body);
  const reset = (token: unknown, password: unknown = NEW_PASSWORD) => post('/auth/password/reset', { token, password });
  const login = (email: string, password: string) => post('/auth/login', { email, password });
  const mutate = (query: string, variables: object) => post('/graphql/system', { query, variables });
  const createPerson = (more: Record<string, unknown> = {}) => createTestUserAccount(service, role, more);
  const sql = (text: string, params: unknown[] = []) => service.database.query<Record<string, unknown>>(text, params);

  /** Requests a link by HTTP and waits for its mail. */
  async function requestMailedLink({ email }: TestUserAccount, body: object = {}): Promise<URL> {
    const reply = await requestLink({ email, ...body });
    expect([reply.status, reply.body]).to.deep.equal([200, undefined]);
    return mails.linkFor(email);
  }

  const requestToken = async (person: TestUserAccount) => tokenOf(await requestMailedLink(person));

  /** How many mails the addresses have received when that of another person, requested last, has arrived. */
  async function countMails(emails: readonly string[]): Promise<readonly number[]> {
    await requestMailedLink(await createPerson());
    return emails.map(mails.count);
  }

  describe('POST /auth/password/request', () => {
    it('answers 200 without a body, and mails a link to the page below PUBLIC_URL', async () => {
      const link = await requestMailedLink(await createPerson());
      expect(link.origin + link.pathname).to.equal('https://content.example.com/api/admin/reset-password');
      expect([...link.searchParams.keys()]).to.deep.equal(['token']);
    });

    it('mails the reset_url of the list with its own parameters and its fragment', async () => {
      const link = await requestMailedLink(await createPerson(), { reset_url: `${PAGE}?theme=dark&token=old#here` });
      expect(link.origin + link.pathname).to.equal(PAGE);
      expect([link.searchParams.get('theme'), link.hash]).to.deep.equal(['dark', '#here']);
      expect(link.searchParams.getAll('token')).to.have.length(1);
      expect(tokenOf(link)).to.match(/^ey/);
    });

    it('makes no link of the Host header', async () => {
      const { email } = await createPerson();
      const headers = { host: 'evil.org', 'x-forwarded-host': 'evil.org', forwarded: 'host=evil.org' };
      expect(await sendWithHeaders(`${service.url}/auth/password/request`, { email }, headers)).to.equal(200);
      expect((await mails.linkFor(email)).host).to.equal('content.example.com');
    });

    it('answers 200 and mails nothing for users who are not active or sign in by another provider', async () => {
      const people = [
        ...['draft', 'invited', 'unverified', 'suspended', 'archived'].map((status) => ({ status })),
        { provider: 'ldap' },
      ];
      const emails: string[] = [];
      for (const more of people) {
        const { email } = await createPerson(more);
        emails.push(email);
        const { status, body } = await requestLink({ email });
        expect([status, body], JSON.stringify(more)).to.deep.equal([200, undefined]);
      }
      expect(await countMails(emails)).to.deep.equal(emails.map(() => 0));
    });

    it('mails the stored address, whatever spelling the request has', async () => {
      const { email } = await createPerson();
      await requestLink({ email: email.toUpperCase() });
      await mails.linkFor(email);
      expect(mails.count(email.toUpperCase())).to.equal(0);
    });

    it('answers 200 without a body for unknown addresses and texts that are none', async () => {
      for (const email of ['unknown@example.com', 'no address', '', "' or true --", '%', '*', 'a'.repeat(255)]) {
        const { status, body } = await requestLink({ email });
        expect([status, body], email).to.deep.equal([200, undefined]);
      }
    });

    it('sends one mail for 30 concurrent requests, and the next one a minute later', async () => {
      const { id, email } = await createPerson();
      const replies = await Promise.all(Array.from({ length: 30 }, () => requestLink({ email })));
      expect(new Set(replies.map(({ status }) => status))).to.deep.equal(new Set([200]));
      expect(await countMails([email])).to.deep.equal([1]);
      await sql(`update platform_password_requests set last = last - interval '61 seconds' where "user" = $1`, [id]);
      expect((await requestLink({ email })).status).to.equal(200);
      await mails.linkFor(email, 1);
      expect(await countMails([email])).to.deep.equal([2]);
    });

    it('sends at most five mails an hour to a user', async () => {
      const { id, email } = await createPerson();
      const later = (minutes: number) =>
        sql(
          `update platform_password_requests set last = last - $2 * interval '1 minute', since = since - $2 * interval '1 minute' where "user" = $1`,
          [id, minutes],
        );
      for (let at = 0; at < 7; at++) {
        await requestLink({ email });
        await later(2);
      }
      expect(await countMails([email])).to.deep.equal([5]);
      await later(60);
      await requestLink({ email });
      await mails.linkFor(email, 5);
    });

    it('leaves rows for users that were mailed, and none for other addresses', async () => {
      const count = async () => (await sql('select count(*)::int as n from platform_password_requests'))[0]?.n;
      const before = await count();
      for (let at = 0; at < 20; at++) await requestLink({ email: `unknown${at}@example.com` });
      expect(await count()).to.equal(before);
    });

    for (const [title, body] of [
      ['no body', undefined],
      ['a list', []],
      ['a text', '"x"'],
      ['no e-mail address', {}],
      ['null as the address', { email: null }],
      ['a number', { email: 1 }],
      ['a list of addresses', { email: ['a@example.com', 'b@example.com'] }],
      ['an object', { email: { _eq: 'a@example.com' } }],
      ['a text of 256 characters', { email: 'a'.repeat(256) }],
      ['a NUL character', { email: 'a\0@example.com' }],
      ['a member that is not known', { email: 'a@example.com', role: 'x' }],
      ['a reset_url that is no text', { email: 'a@example.com', reset_url: [PAGE] }],
      ['a reset_url of another host', { email: 'a@example.com', reset_url: 'https://evil.org/new-password' }],
    ] as const)
      it(`answers 400 INVALID_PAYLOAD for ${title}`, async () => {
        expect(statusAndCodeOf(await requestLink(body))).to.deep.equal([400, 'INVALID_PAYLOAD']);
      });
  });

  describe('POST /auth/password/reset', () => {
    it('answers 200 without a body, and the user signs in with the new password only', async () => {
      const ann = await createPerson();
      const reply = await reset(await requestToken(ann));
      expect([reply.status, reply.body]).to.deep.equal([200, undefined]);
      expect((await login(ann.email, NEW_PASSWORD)).status).to.equal(200);
      expect(statusAndCodeOf(await login(ann.email, ann.password))).to.deep.equal([401, 'INVALID_CREDENTIALS']);
    });

    it('answers 403 INVALID_TOKEN for a link that was used', async () => {
      const token = await requestToken(await createPerson());
      expect((await reset(token)).status).to.equal(200);
      for (const password of [NEW_PASSWORD, 'a third password'])
        expect(statusAndCodeOf(await reset(token, password))).to.deep.equal([403, 'INVALID_TOKEN']);
    });

    it('answers 401 TOKEN_EXPIRED for a link that is older than a day', async () => {
      const token = await requestToken(await createPerson());
      const { iat, exp } = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
      expect(exp - iat).to.equal(24 * 60 * 60);
      expect(statusAndCodeOf(await reset(expireLinkToken(token)))).to.deep.equal([401, 'TOKEN_EXPIRED']);
    });

    it('answers 403 INVALID_TOKEN for forged tokens, and changes no password', async () => {
      const ann = await createPerson();
      const forged = forgeLinkTokens(await requestToken(ann));
      for (const [title, token] of Object.entries(forged))
        expect(statusAndCodeOf(await reset(token)), title).to.deep.equal([403, 'INVALID_TOKEN']);
      expect((await login(ann.email, ann.password)).status).to.equal(200);
    });

    it('answers 403 INVALID_TOKEN for access tokens, static tokens, and tokens of other purposes', async () => {
      const ann = await createPerson();
      const own = await requestToken(ann);
      const access = (await login(ann.email, ann.password)).body.data.access_token;
      const others = ['invitation', 'registration', 'access', 'password_reset'].map((scope) =>
        signChangedLinkToken(own, { scope }),
      );
      for (const token of [access, ann.token, service.admin.token, ...others])
        expect(statusAndCodeOf(await reset(token))).to.deep.equal([403, 'INVALID_TOKEN']);
    });

    it('answers 403 INVALID_TOKEN once the password, the e-mail address or the provider is another one', async () => {
      for (const change of [{ password: 'chosen by itself' }, { email: 'moved@example.com' }, { provider: 'ldap' }]) {
        const ann = await createPerson();
        const token = await requestToken(ann);
        expect((await admin('PATCH', `/users/${ann.id}`, change)).status).to.equal(200);
        expect(statusAndCodeOf(await reset(token)), JSON.stringify(change)).to.deep.equal([403, 'INVALID_TOKEN']);
      }
    });

    it('answers 403 INVALID_TOKEN for a user who was deleted', async () => {
      const ann = await createPerson();
      const token = await requestToken(ann);
      await admin('DELETE', `/users/${ann.id}`);
      expect(statusAndCodeOf(await reset(token))).to.deep.equal([403, 'INVALID_TOKEN']);
    });

    it('answers 401 USER_SUSPENDED for a user who is no longer active, who stays so with the old password', async () => {
      for (const status of ['suspended', 'archived', 'draft']) {
        const ann = await createPerson();
        const token = await requestToken(ann);
        await admin('PATCH', `/users/${ann.id}`, { status });
        expect(statusAndCodeOf(await reset(token))).to.deep.equal([401, 'USER_SUSPENDED']);
        expect((await admin('GET', `/users/${ann.id}?fields=status`)).body.data).to.deep.equal({ status });
        await admin('PATCH', `/users/${ann.id}`, { status: 'active' });
        expect((await login(ann.email, ann.password)).status).to.equal(200);
      }
    });

    it('ends the sessions of the user', async () => {
      const ann = await createPerson();
      const sessions = [await login(ann.email, ann.password), await login(ann.email, ann.password)];
      await reset(await requestToken(ann));
      for (const { body } of sessions)
        expect(statusAndCodeOf(await post('/auth/refresh', { refresh_token: body.data.refresh_token }))).to.deep.equal([
          401,
          'INVALID_CREDENTIALS',
        ]);
    });

    it('clears the count of failed sign-ins', async () => {
      const ann = await createPerson();
      await admin('PATCH', '/settings', { auth_login_attempts: 3 });
      for (let at = 0; at < 2; at++) await login(ann.email, 'wrong');
      await reset(await requestToken(ann));
      for (let at = 0; at < 2; at++)
        expect(statusAndCodeOf(await login(ann.email, 'wrong'))).to.deep.equal([401, 'INVALID_CREDENTIALS']);
      expect((await login(ann.email, NEW_PASSWORD)).status).to.equal(200);
      await admin('PATCH', '/settings', { auth_login_attempts: 25 });
    });

    it('answers 400 FAILED_VALIDATION for a password against the policy, and the link stays good', async () => {
      const ann = await createPerson();
      const token = await requestToken(ann);
      await admin('PATCH', '/settings', { auth_password_policy: '^.{12,}$' });
      try {
        const reply = await reset(token, 'short');
        expect(statusAndCodeOf(reply)).to.deep.equal([400, 'FAILED_VALIDATION']);
        expect(reply.body.errors[0].extensions).to.include({ field: 'password', type: 'regex' });
        expect(JSON.stringify(reply.body)).not.to.include('short');
        expect((await reset(token)).status).to.equal(200);
      } finally {
        await admin('PATCH', '/settings', { auth_password_policy: null });
      }
    });

    it('answers 400 INVALID_PAYLOAD for bodies of another form', async () => {
      const token = await requestToken(await createPerson());
      for (const body of [
        undefined,
        {},
        { token },
        { password: 'x' },
        { token, password: '' },
        { token, password: '**********' },
        { token, password: null },
        { token, password: ['x'] },
        { token, password: 'x'.repeat(1001) },
        { token: [token], password: 'x' },
        { token: { token }, password: 'x' },
        { token, password: 'x', status: 'active' },
        { token, password: 'x', role },
        { token, password: 'x', id: service.admin.email },
        { token, password: 'x', email: 'other@example.com' },
      ])
        expect(statusAndCodeOf(await post('/auth/password/reset', body)), JSON.stringify(body)).to.deep.equal([
          400,
          'INVALID_PAYLOAD',
        ]);
    });
  });

  it('a token of a link is no access token', async () => {
    const token = await requestToken(await createPerson());
    expect(statusAndCodeOf(await service.request('GET', '/users/me', { token }))).to.deep.equal([403, 'INVALID_TOKEN']);
  });

  describe('GraphQL', () => {
    const REQUEST =
      'mutation ($email: String!, $page: String) { auth_password_request(email: $email, reset_url: $page) }';
    const RESET =
      'mutation ($token: String!, $password: String!) { auth_password_reset(token: $token, password: $password) }';

    it('auth_password_request answers true for known and unknown addresses, and mails the known one', async () => {
      const ann = await createPerson();
      for (const email of ['unknown@example.com', ann.email])
        expect((await mutate(REQUEST, { email, page: PAGE })).body).to.deep.equal({
          data: { auth_password_request: true },
        });
      expect((await mails.linkFor(ann.email)).origin).to.equal(new URL(PAGE).origin);
    });

    it('auth_password_request answers INVALID_PAYLOAD for a reset_url that is not on the list', async () => {
      const reply = await mutate(REQUEST, { email: 'a@example.com', page: 'https://evil.org/' });
      expect(errorCodeOf(reply)).to.equal('INVALID_PAYLOAD');
    });

    it('auth_password_reset sets a password once', async () => {
      const ann = await createPerson();
      const token = await requestToken(ann);
      const variables = { token, password: NEW_PASSWORD };
      expect((await mutate(RESET, variables)).body).to.deep.equal({ data: { auth_password_reset: true } });
      expect((await login(ann.email, NEW_PASSWORD)).status).to.equal(200);
      expect(errorCodeOf(await mutate(RESET, variables))).to.equal('INVALID_TOKEN');
      const expired = { ...variables, token: expireLinkToken(token) };
      expect(errorCodeOf(await mutate(RESET, expired))).to.equal('TOKEN_EXPIRED');
    });

    it('a document has each of the mutations once', async () => {
      for (const field of [
        'auth_password_request(email: "a@example.com")',
        'auth_password_reset(token: "x", password: "y")',
      ]) {
        const { body } = await post('/graphql/system', { query: `mutation { a: ${field} b: ${field} }` });
        expect(body.data, field).not.to.be.an('object');
        expect(body.errors).to.have.length(1);
      }
    });
  });

  it('neither tokens nor passwords reach the log, the activity or the revisions', async () => {
    const ann = await createPerson();
    const token = await requestToken(ann);
    await reset(token, 'a password to look for');
    await service.request('GET', `/auth/password/reset?token=${token}`);
    const shown = [
      JSON.stringify(service.log),
      JSON.stringify(await sql('select * from platform_activity')),
      JSON.stringify(await sql('select * from platform_revisions')),
    ];
    expect(service.log).not.to.be.empty;
    for (const text of shown) {
      expect(text).not.to.include('a password to look for');
      expect(text).not.to.include(token);
      expect(text).not.to.include(token.split('.')[2] as string);
      expect(text).not.to.include('$argon2');
    }
    const [row] = await sql(`select owner from platform_activity where item = $1 order by id desc limit 1`, [ann.id]);
    expect(row?.owner).to.match(/^@tenon\/password-reset@/);
  });
});

describe('password reset without the settings that it needs', function () {
  this.timeout(180_000);

  it('answers 200, mails nothing and says so in the log once, where PUBLIC_URL is not absolute', async () => {
    const mails = await startMailLinks();
    const env = { ...mails.env, PUBLIC_URL: '/', LOG_LEVEL: 'warn', PASSWORD_RESET_URL_ALLOW_LIST: PAGE };
    const service = await startService({ env });
    try {
      const { email } = service.admin;
      for (const one of [email, 'unknown@example.com', email])
        expect(
          await sendWithHeaders(`${service.url}/auth/password/request`, { email: one }, { host: 'evil.org' }),
        ).to.equal(200);
      const lines = service.log.filter(({ msg }) => String(msg).includes('PUBLIC_URL'));
      expect(lines).to.have.length(1);
      // A URL of the list needs no PUBLIC_URL.
      await service.request('POST', '/auth/password/request', { body: { email, reset_url: PAGE } });
      expect((await mails.linkFor(email)).origin).to.equal(new URL(PAGE).origin);
      expect(mails.count(email)).to.equal(1);
    } finally {
      await service.stop();
      await mails.server.stop();
    }
  });

  it('has neither routes nor GraphQL fields where AUTH_DISABLE_DEFAULT is true', async () => {
    const service = await startService({ env: { AUTH_DISABLE_DEFAULT: 'true' } });
    try {
      for (const path of ['/auth/password/request', '/auth/password/reset'])
        expect(statusAndCodeOf(await service.request('POST', path, { body: {} }))).to.deep.equal([
          404,
          'ROUTE_NOT_FOUND',
        ]);
      const query = 'mutation { auth_password_request(email: "a@example.com") }';
      const { body } = await service.request('POST', '/graphql/system', { body: { query } });
      expect(body.errors[0].extensions.code).to.match(/^GRAPHQL_VALIDATION/);
    } finally {
      await service.stop();
    }
  });
});

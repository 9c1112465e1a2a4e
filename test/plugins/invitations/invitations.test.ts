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

const PAGE = 'https://app.example.com/welcome';
const PASSWORD = 'a password of mine';
const USERS = 'platform_users';

let count = 0;
const createAddress = () => `invited${++count}@example.com`;

describe('invitations', function () {
  this.timeout(180_000);
  let mails: MailLinks;
  let service: InProcessService;
  let admin: SendAsUser;
  let writers: string;
  let readers: string;
  let adminRole: string;
  /** May invite users to the role of the writers. */
  let manager: TestUserAccount;
  before(async () => {
    mails = await startMailLinks();
    service = await startService({
      env: { ...mails.env, PUBLIC_URL: 'https://content.example.com', USER_INVITE_URL_ALLOW_LIST: PAGE },
    });
    admin = createUserSender(service, service.admin.token);
    writers = await makeRole(service, { app_access: true });
    readers = await makeRole(service);
    adminRole = await makeRole(service, { admin_access: true });
    const create = { collection: USERS, action: 'create', fields: ['email', 'role', 'status'] };
    manager = await createTestUserAccount(
      service,
      await makeRole(service, {}, [{ ...create, validation: { role: { _eq: writers } } }]),
    );
  });
  after(async () => {
    await service?.stop();
    await mails?.server.stop();
  });

  const invite = (ask: SendAsUser, body: unknown) => ask('POST', '/users/invite', body);
  const accept = (token: unknown, password: unknown = PASSWORD, more = {}) =>
    service.request('POST', '/users/invite/accept', { body: { token, password, ...more } });
  const login = (email: string, password = PASSWORD) =>
    service.request('POST', '/auth/login', { body: { email, password } });
  const findUser = async (email: string) =>
    (
      await service.database.query<Record<string, unknown>>(
        'select id, email, role, status, password, provider, token from platform_users where lower(email) = lower($1)',
        [email],
      )
    )[0];

  /** Invites a new address and answers it with the token of its mail. */
  async function createInvitation(role = writers): Promise<{ readonly email: string; readonly token: string }> {
    const email = createAddress();
    expect((await invite(admin, { email, role })).status).to.equal(204);
    return { email, token: tokenOf(await mails.linkFor(email)) };
  }

  /** How many mails the addresses have received when that of another one, invited last, has arrived. */
  async function countMails(...emails: readonly string[]): Promise<readonly number[]> {
    await createInvitation();
    return emails.map(mails.count);
  }

  describe('POST /users/invite', () => {
    it('answers 204, creates an invited user without a password, and mails a link to the page below PUBLIC_URL', async () => {
      const email = createAddress();
      const reply = await invite(admin, { email, role: writers });
      expect([reply.status, reply.body]).to.deep.equal([204, undefined]);
      const link = await mails.linkFor(email);
      expect(link.origin + link.pathname).to.equal('https://content.example.com/admin/accept-invite');
      expect(await findUser(email)).to.include({
        status: 'invited',
        role: writers,
        password: null,
        provider: 'default',
      });
      expect(statusAndCodeOf(await login(email, ''))).to.deep.equal([401, 'INVALID_CREDENTIALS']);
    });

    it('mails an invite_url of the list', async () => {
      const email = createAddress();
      await invite(admin, { email, role: writers, invite_url: `${PAGE}?lang=de` });
      const link = await mails.linkFor(email);
      expect([link.origin + link.pathname, link.searchParams.get('lang')]).to.deep.equal([PAGE, 'de']);
    });

    it('invites all addresses of a list, each once', async () => {
      const [one, two] = [createAddress(), createAddress()];
      expect((await invite(admin, { email: [two, one, one.toUpperCase()], role: writers })).status).to.equal(204);
      for (const email of [one, two]) await mails.linkFor(email);
      expect((await findUser(one))?.status).to.equal('invited');
    });

    it('creates no user and sends no mail where one address of a list is none', async () => {
      const email = createAddress();
      for (const other of ['zzz is no address', 'x<ann@example.com>', 'zzz@'])
        expect(statusAndCodeOf(await invite(admin, { email: [email, other], role: writers })), other).to.deep.equal([
          400,
          'FAILED_VALIDATION',
        ]);
      expect(await findUser(email)).to.equal(undefined);
      expect(await countMails(email)).to.deep.equal([0]);
    });

    it('sends another mail to an invited user, who gets the new role', async () => {
      const { email, token } = await createInvitation();
      expect((await invite(admin, { email: email.toUpperCase(), role: readers })).status).to.equal(204);
      const second = tokenOf(await mails.linkFor(email, 1));
      expect(await findUser(email)).to.include({ status: 'invited', role: readers });
      expect((await accept(second)).status).to.equal(204);
      expect(statusAndCodeOf(await accept(token))).to.deep.equal([400, 'INVALID_PAYLOAD']);
    });

    it('answers 204 for users who are not invited any more, changes nothing and sends no mail', async () => {
      for (const status of ['active', 'suspended', 'archived', 'draft', 'unverified']) {
        const { email } = await createTestUserAccount(service, readers, { status });
        const before = await findUser(email);
        for (const ask of [admin, manager.ask])
          expect((await invite(ask, { email, role: writers })).status, status).to.equal(204);
        expect(await findUser(email)).to.deep.equal(before);
        expect(await countMails(email)).to.deep.equal([0]);
      }
    });

    it('two concurrent requests for one new address create one user', async () => {
      for (let round = 0; round < 5; round++) {
        const email = createAddress();
        const both = await Promise.all([1, 2].map(() => invite(admin, { email, role: writers })));
        expect(both.map(({ status }) => status)).to.deep.equal([204, 204]);
        const [row] = await service.database.query<{ n: number }>(
          'select count(*)::int as n from platform_users where email = $1',
          [email],
        );
        expect(row?.n).to.equal(1);
        await mails.linkFor(email, 1);
      }
    });

    it('the activity names the caller who invited', async () => {
      const email = createAddress();
      await invite(manager.ask, { email, role: writers });
      const id = (await findUser(email))?.id;
      const [row] = await service.database.query('select "user" from platform_activity where item = $1', [id]);
      expect(row).to.deep.equal({ user: manager.id });
    });
  });

  describe('permissions of POST /users/invite', () => {
    it('a caller with the permission to create users of a role invites to it', async () => {
      const email = createAddress();
      expect((await invite(manager.ask, { email, role: writers })).status).to.equal(204);
      expect((await findUser(email))?.role).to.equal(writers);
    });

    it('answers alike for known and unknown addresses where the permission does not allow the role', async () => {
      const active = await createTestUserAccount(service, readers);
      const { email: invited } = await createInvitation();
      for (const email of [createAddress(), active.email, invited])
        expect(statusAndCodeOf(await invite(manager.ask, { email, role: readers })), email).to.deep.equal([
          400,
          'FAILED_VALIDATION',
        ]);
      expect((await findUser(invited))?.role).to.equal(writers);
    });

    it('answers 403 FORBIDDEN without a token, and without the permission to create users', async () => {
      const person = await createTestUserAccount(service, writers);
      const withoutBody = await service.request('POST', '/users/invite', { body: {} });
      expect(statusAndCodeOf(withoutBody)).to.deep.equal([403, 'FORBIDDEN']);
      for (const ask of [createUserSender(service, null), person.ask])
        expect(statusAndCodeOf(await invite(ask, { email: createAddress(), role: writers }))).to.deep.equal([
          403,
          'FORBIDDEN',
        ]);
    });

    it('answers 403 FORBIDDEN where the field list has not email, role and status', async () => {
      for (const fields of [['*'], ['email', 'role'], ['email', 'status'], ['role', 'status']]) {
        const role = await makeRole(service, {}, [{ collection: USERS, action: 'create', fields }]);
        const { ask } = await createTestUserAccount(service, role);
        const email = createAddress();
        expect(statusAndCodeOf(await invite(ask, { email, role: writers })), fields.join()).to.deep.equal([
          403,
          'FORBIDDEN',
        ]);
        expect(await findUser(email)).to.equal(undefined);
      }
    });

    it('only admins invite to the role of an admin, and change the role of an invited admin', async () => {
      const role = await makeRole(service, {}, [
        { collection: USERS, action: 'create', fields: ['email', 'role', 'status'] },
      ]);
      const { ask } = await createTestUserAccount(service, role);
      const email = createAddress();
      expect(statusAndCodeOf(await invite(ask, { email, role: adminRole }))).to.deep.equal([403, 'FORBIDDEN']);
      expect(await findUser(email)).to.equal(undefined);
      expect((await invite(admin, { email, role: adminRole })).status).to.equal(204);
      await mails.linkFor(email);
      expect((await invite(ask, { email, role: readers })).status).to.equal(204);
      expect((await findUser(email))?.role).to.equal(adminRole);
      expect(await countMails(email)).to.deep.equal([1]);
      const invited = (await createInvitation()).email;
      expect(statusAndCodeOf(await invite(ask, { email: invited, role: adminRole }))).to.deep.equal([403, 'FORBIDDEN']);
      expect((await findUser(invited))?.role).to.equal(writers);
    });
  });

  it('POST /users/invite answers 400 for bodies of another form, and creates nothing', async () => {
    const email = createAddress();
    const missing = '11111111-1111-4111-8111-111111111111';
    for (const [body, code = 'INVALID_PAYLOAD'] of [
      [undefined],
      [[]],
      [{}],
      [{ email }],
      [{ role: writers }],
      [{ email: null, role: writers }],
      [{ email: [], role: writers }],
      [{ email: [email, 1], role: writers }],
      [{ email: [[email]], role: writers }],
      [{ email: Array.from({ length: 101 }, createAddress), role: writers }],
      [{ email: `${'a'.repeat(128)}@example.com`, role: writers }],
      [{ email, role: null }],
      [{ email, role: 'admin' }],
      [{ email, role: { name: 'x', admin_access: true } }],
      [{ email, role: '00000000-0000-0000-0000-000000000000' }],
      [{ email, role: missing }, 'INVALID_FOREIGN_KEY'],
      [{ email, role: writers, status: 'active' }],
      [{ email, role: writers, password: 'x' }],
      [{ email, role: writers, token: 'x' }],
      [{ email, role: writers, provider: 'ldap' }],
      [{ email, role: writers, invite_url: 'https://evil.org/welcome' }],
      [{ email, role: writers, invite_url: [PAGE] }],
    ] as readonly [unknown, string?][])
      expect(statusAndCodeOf(await invite(admin, body)), JSON.stringify(body)).to.deep.equal([400, code]);
    expect(await findUser(email)).to.equal(undefined);
  });

  describe('POST /users/invite/accept', () => {
    it('answers 204, and the user is active with the password and the role of the invitation', async () => {
      const { email, token } = await createInvitation();
      const reply = await accept(token);
      expect([reply.status, reply.body]).to.deep.equal([204, undefined]);
      expect((await login(email)).status).to.equal(200);
      expect(await findUser(email)).to.include({ status: 'active', role: writers, token: null });
    });

    it('answers 400 INVALID_PAYLOAD for an invitation that was accepted, and keeps the password', async () => {
      const { email, token } = await createInvitation();
      await accept(token);
      expect(statusAndCodeOf(await accept(token, 'another one'))).to.deep.equal([400, 'INVALID_PAYLOAD']);
      expect((await login(email)).status).to.equal(200);
    });

    it('answers 400 INVALID_PAYLOAD where the user is suspended or deleted meanwhile', async () => {
      for (const change of ['suspended', 'archived', 'active', null]) {
        const { email, token } = await createInvitation();
        const id = (await findUser(email))?.id;
        const done = change
          ? await admin('PATCH', `/users/${id}`, { status: change })
          : await admin('DELETE', `/users/${id}`);
        expect(done.status).to.be.oneOf([200, 204]);
        expect(statusAndCodeOf(await accept(token)), String(change)).to.deep.equal([400, 'INVALID_PAYLOAD']);
        expect((await findUser(email))?.password ?? null).to.equal(null);
      }
    });

    it('answers 403 INVALID_TOKEN once the invited user has another address', async () => {
      const { email, token } = await createInvitation();
      await admin('PATCH', `/users/${(await findUser(email))?.id}`, { email: createAddress() });
      expect(statusAndCodeOf(await accept(token))).to.deep.equal([403, 'INVALID_TOKEN']);
    });

    it('answers 401 TOKEN_EXPIRED for a link that is older than seven days', async () => {
      const { token } = await createInvitation();
      const { iat, exp } = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
      expect(exp - iat).to.equal(7 * 24 * 60 * 60);
      expect(statusAndCodeOf(await accept(expireLinkToken(token)))).to.deep.equal([401, 'TOKEN_EXPIRED']);
    });

    it('answers 403 INVALID_TOKEN for forged tokens and those of other purposes', async () => {
      const { email, token } = await createInvitation();
      const { 'with the id of another user': withoutUser, ...forged } = forgeLinkTokens(token);
      for (const [title, one] of Object.entries(forged))
        expect(statusAndCodeOf(await accept(one)), title).to.deep.equal([403, 'INVALID_TOKEN']);
      expect(statusAndCodeOf(await accept(withoutUser))).to.deep.equal([400, 'INVALID_PAYLOAD']);
      for (const one of [
        service.admin.token,
        manager.token,
        ...['password-reset', 'registration'].map((scope) => signChangedLinkToken(token, { scope })),
      ])
        expect(statusAndCodeOf(await accept(one))).to.deep.equal([403, 'INVALID_TOKEN']);
      expect((await findUser(email))?.status).to.equal('invited');
    });

    it('answers 400 for members that it does not know, and for passwords that may not be set', async () => {
      const { email, token } = await createInvitation();
      for (const more of [
        { role: adminRole },
        { status: 'active' },
        { token: [token] },
        { email: 'other@example.com' },
        { provider: 'ldap' },
        { password: '' },
        { password: '**********' },
        { password: null },
        { password: { a: 1 } },
      ])
        expect(statusAndCodeOf(await accept(token, PASSWORD, more)), JSON.stringify(more)).to.deep.equal([
          400,
          'INVALID_PAYLOAD',
        ]);
      await admin('PATCH', '/settings', { auth_password_policy: '^.{40,}$' });
      expect(statusAndCodeOf(await accept(token))).to.deep.equal([400, 'FAILED_VALIDATION']);
      await admin('PATCH', '/settings', { auth_password_policy: null });
      expect(await findUser(email)).to.include({ status: 'invited', password: null, role: writers });
    });
  });

  describe('GraphQL', () => {
    const INVITE =
      'mutation ($email: String!, $role: String!, $page: String) { users_invite(email: $email, role: $role, invite_url: $page) }';
    const ACCEPT =
      'mutation ($token: String!, $password: String!) { users_invite_accept(token: $token, password: $password) }';
    const mutate = (query: string, variables: object, token: string | null = null) =>
      service.request('POST', '/graphql/system', { token, body: { query, variables } });

    it('users_invite and users_invite_accept answer true, and make an active user', async () => {
      const email = createAddress();
      const invited = await mutate(INVITE, { email, role: writers, page: PAGE }, service.admin.token);
      expect(invited.body).to.deep.equal({ data: { users_invite: true } });
      const token = tokenOf(await mails.linkFor(email));
      const variables = { token, password: PASSWORD };
      expect((await mutate(ACCEPT, variables)).body).to.deep.equal({ data: { users_invite_accept: true } });
      expect((await login(email)).status).to.equal(200);
      expect(errorCodeOf(await mutate(ACCEPT, variables))).to.equal('INVALID_PAYLOAD');
      expect(errorCodeOf(await mutate(ACCEPT, { ...variables, token: expireLinkToken(token) }))).to.equal(
        'TOKEN_EXPIRED',
      );
    });

    it('users_invite refuses what POST /users/invite refuses', async () => {
      const email = createAddress();
      for (const [variables, code] of [
        [{ email, role: adminRole }, 'FORBIDDEN'],
        [{ email, role: readers }, 'FAILED_VALIDATION'],
        [{ email, role: writers, page: 'https://evil.org' }, 'INVALID_PAYLOAD'],
      ] as const)
        expect(errorCodeOf(await mutate(INVITE, variables, manager.token))).to.equal(code);
      expect(await findUser(email)).to.equal(undefined);
    });

    it('users_invite is no field for callers who may not create users', async () => {
      const { body } = await mutate(INVITE, { email: createAddress(), role: writers });
      expect(body.errors[0].extensions.code).to.match(/^GRAPHQL_VALIDATION/);
    });
  });
});

describe('invitations without an absolute PUBLIC_URL', function () {
  this.timeout(120_000);

  it('POST /users/invite answers 503 INVALID_CONFIG and creates no user, unless the request names a URL of the list', async () => {
    const mails = await startMailLinks();
    const service = await startService({ env: { ...mails.env, PUBLIC_URL: '/', USER_INVITE_URL_ALLOW_LIST: PAGE } });
    try {
      const admin = createUserSender(service, service.admin.token);
      const role = await makeRole(service);
      const email = createAddress();
      expect(statusAndCodeOf(await admin('POST', '/users/invite', { email, role }))).to.deep.equal([
        503,
        'INVALID_CONFIG',
      ]);
      expect((await admin('GET', `/users?filter[email][_eq]=${email}`)).body.data).to.deep.equal([]);
      expect((await admin('POST', '/users/invite', { email, role, invite_url: PAGE })).status).to.equal(204);
      expect((await mails.linkFor(email)).origin).to.equal(new URL(PAGE).origin);
    } finally {
      await service.stop();
      await mails.server.stop();
    }
  });
});

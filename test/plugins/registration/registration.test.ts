import { expect } from 'chai';
import { expireLinkToken, forgeLinkTokens, signChangedLinkToken } from '../../support/forged-link-tokens.ts';
import { type MailLinks, startMailLinks, tokenOf } from '../../support/mail-links.ts';
import { createMigratedDatabase, type InProcessService, startService } from '../../support/service.ts';
import { until } from '../../support/until.ts';
import {
  createTestUserAccount,
  createUserSender,
  errorCodeOf,
  makeRole,
  type SendAsUser,
  statusAndCodeOf,
} from '../users/test-users.ts';

const PAGE = 'https://app.example.com/confirm';
const PASSWORD = 'a password of mine';
const PUBLIC_URL = 'https://content.example.com/api';

let count = 0;
const createAddress = () => `visitor${++count}@example.com`;

describe('registration', function () {
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
        PUBLIC_URL,
        USER_REGISTER_URL_ALLOW_LIST: PAGE,
        RATE_LIMITER_REGISTRATION_ENABLED: 'false',
        REGISTER_STALL_TIME: '1',
      },
    });
    admin = createUserSender(service, service.admin.token);
    role = await makeRole(service, { app_access: true });
    await set({ public_registration: true, public_registration_role: role });
  });
  after(async () => {
    await service?.stop();
    await mails?.server.stop();
  });

  const set = async (values: object) => expect((await admin('PATCH', '/settings', values)).status).to.equal(200);
  const sql = (text: string, params: unknown[] = []) => service.database.query<Record<string, unknown>>(text, params);
  const register = (body: unknown) => service.request('POST', '/users/register', { body });
  const verify = (token: string) =>
    service.request('GET', `/users/register/verify-email?token=${encodeURIComponent(token)}`);
  const login = (email: string, password = PASSWORD) =>
    service.request('POST', '/auth/login', { body: { email, password } });
  const findUser = async (email: string) =>
    (
      await sql(
        `select id, email, role, status, first_name, last_name, provider, token, password from platform_users
        where lower(email) = lower($1)`,
        [email],
      )
    )[0];
  /** Lets the minute pass in which a user gets no other mail. */
  const passMinute = () => sql(`update platform_registrations set last = last - interval '61 seconds'`);

  /** Registers a new address and answers the link of its mail. */
  async function createRegistration(more: object = {}): Promise<{ readonly email: string; readonly link: URL }> {
    const email = createAddress();
    const reply = await register({ email, password: PASSWORD, ...more });
    expect([reply.status, reply.body]).to.deep.equal([204, undefined]);
    return { email, link: await mails.linkFor(email) };
  }

  describe('POST /users/register', () => {
    it('answers 204, creates an unverified user with the role of the settings, and mails a link', async () => {
      const { email, link } = await createRegistration({ first_name: 'Ann', last_name: 'Lee' });
      expect(link.origin + link.pathname).to.equal(`${PUBLIC_URL}/admin/verify-email`);
      expect(await findUser(email)).to.include({
        status: 'unverified',
        role,
        first_name: 'Ann',
        last_name: 'Lee',
        provider: 'default',
        token: null,
      });
      expect(statusAndCodeOf(await login(email))).to.deep.equal([401, 'USER_SUSPENDED']);
    });

    it('mails a verification_url of the list', async () => {
      const { link } = await createRegistration({ verification_url: `${PAGE}?lang=de` });
      expect([link.origin + link.pathname, link.searchParams.get('lang')]).to.deep.equal([PAGE, 'de']);
    });

    it('answers 204 for addresses of users, changes nothing and sends no mail', async () => {
      for (const status of ['active', 'suspended', 'invited', 'draft', 'archived']) {
        const { email, password } = await createTestUserAccount(service, role, { status });
        const before = await findUser(email);
        expect((await register({ email: email.toUpperCase(), password: PASSWORD })).status).to.equal(204);
        expect(await findUser(email)).to.deep.equal(before);
        if (status === 'active') expect((await login(email, password)).status).to.equal(200);
        await createRegistration();
        expect(mails.count(email)).to.equal(0);
      }
    });

    it('a later registration of an unverified address replaces the password, and the earlier link is no longer good', async () => {
      const { email, link } = await createRegistration();
      await passMinute();
      expect((await register({ email, password: 'the password of the owner' })).status).to.equal(204);
      const second = await mails.linkFor(email, 1);
      expect(statusAndCodeOf(await verify(tokenOf(link)))).to.deep.equal([403, 'INVALID_TOKEN']);
      expect((await verify(tokenOf(second))).status).to.equal(302);
      expect(statusAndCodeOf(await login(email))).to.deep.equal([401, 'INVALID_CREDENTIALS']);
      expect((await login(email, 'the password of the owner')).status).to.equal(200);
    });

    it('sends one mail a minute to an address, and changes no password without a mail', async () => {
      const { email, link } = await createRegistration();
      const again = await Promise.all([1, 2, 3].map(() => register({ email, password: 'another one' })));
      expect(again.map(({ status }) => status)).to.deep.equal([204, 204, 204]);
      expect((await verify(tokenOf(link))).status).to.equal(302);
      expect((await login(email)).status).to.equal(200);
      expect(mails.count(email)).to.equal(1);
    });

    it('sends at most five mails an hour to an address', async () => {
      const { email } = await createRegistration();
      for (let at = 0; at < 6; at++) {
        await passMinute();
        await register({ email, password: PASSWORD });
      }
      const [row] = await sql(`select sent from platform_registrations where "user" = $1`, [
        (await findUser(email))?.id,
      ]);
      expect(row?.sent).to.equal(5);
      await createRegistration();
      expect(mails.count(email)).to.equal(5);
    });

    it('concurrent registrations of one address create one user and send one mail', async () => {
      const email = createAddress();
      const all = await Promise.all(Array.from({ length: 6 }, () => register({ email, password: PASSWORD })));
      expect(new Set(all.map(({ status }) => status))).to.deep.equal(new Set([204]));
      await mails.linkFor(email);
      await createRegistration();
      expect(mails.count(email)).to.equal(1);
    });

    it('answers 400 INVALID_PAYLOAD for bodies of another form, of known and unknown addresses alike', async () => {
      const known = (await createTestUserAccount(service, role)).email;
      for (const email of [createAddress(), known]) {
        const whole = { email, password: PASSWORD };
        for (const body of [
          undefined,
          [],
          { email },
          { password: PASSWORD },
          { ...whole, email: [email] },
          { ...whole, email: 'a'.repeat(129) },
          { ...whole, password: '' },
          { ...whole, password: '**********' },
          { ...whole, password: 5 },
          { ...whole, first_name: 'x'.repeat(51) },
          { ...whole, last_name: {} },
          { ...whole, verification_url: 'https://evil.org/confirm' },
          ...['role', 'status', 'token', 'provider', 'external_identifier', 'tfa_secret', 'id', 'admin_access'].map(
            (name) => ({ ...whole, [name]: 'x' }),
          ),
        ])
          expect(statusAndCodeOf(await register(body)), JSON.stringify(body)).to.deep.equal([400, 'INVALID_PAYLOAD']);
      }
      for (const email of [
        'no address',
        'x<ann@example.com>',
        'Ann <ann@example.com>',
        'a@example.com,b@example.com',
        '@',
        '',
      ])
        expect(statusAndCodeOf(await register({ email, password: PASSWORD })), email).to.deep.equal([
          400,
          'FAILED_VALIDATION',
        ]);
    });

    it('answers 400 FAILED_VALIDATION for a password against the policy, of known and unknown addresses alike', async () => {
      await set({ auth_password_policy: '^.{40,}$' });
      const known = (await findUser(service.admin.email))?.email;
      for (const email of [createAddress(), known])
        expect(statusAndCodeOf(await register({ email, password: PASSWORD }))).to.deep.equal([
          400,
          'FAILED_VALIDATION',
        ]);
      await set({ auth_password_policy: null });
    });

    it('answers 403 FORBIDDEN for addresses that the filter rejects, in whatever case', async () => {
      await set({ public_registration_email_filter: { email: { _ends_with: '@example.com' } } });
      for (const email of ['a@evil.org', 'a@EVIL.org', 'a@example.com.evil.org'])
        expect(statusAndCodeOf(await register({ email, password: PASSWORD }))).to.deep.equal([403, 'FORBIDDEN']);
      await createRegistration();
      await set({ public_registration_email_filter: { email: { _nends_with: '@evil.org' } } });
      expect(statusAndCodeOf(await register({ email: 'a@EVIL.org', password: PASSWORD }))).to.deep.equal([
        403,
        'FORBIDDEN',
      ]);
      await set({ public_registration_email_filter: null });
    });

    it('makes the user active at once, and mails nothing, where public_registration_verify_email is false', async () => {
      await set({ public_registration_verify_email: false });
      const email = createAddress();
      expect((await register({ email, password: PASSWORD })).status).to.equal(204);
      expect((await login(email)).status).to.equal(200);
      await set({ public_registration_verify_email: true });
      await createRegistration();
      expect(mails.count(email)).to.equal(0);
    });

    it('answers 403 FORBIDDEN where public_registration is false, for known and unknown addresses', async () => {
      await set({ public_registration: false });
      for (const email of [createAddress(), service.admin.email])
        expect(statusAndCodeOf(await register({ email, password: PASSWORD }))).to.deep.equal([403, 'FORBIDDEN']);
      await set({ public_registration: true });
    });

    it('answers 503 INVALID_CONFIG where the role has become that of an admin, and creates no user', async () => {
      const other = await makeRole(service);
      await set({ public_registration_role: other });
      await admin('PATCH', `/roles/${other}`, { admin_access: true });
      const email = createAddress();
      expect(statusAndCodeOf(await register({ email, password: PASSWORD }))).to.deep.equal([503, 'INVALID_CONFIG']);
      expect(await findUser(email)).to.equal(undefined);
      await set({ public_registration_role: null });
      await createRegistration();
      await set({ public_registration_role: role });
    });

    it('answers 503 SERVICE_UNAVAILABLE where 10,000 registrations wait for their confirmation', async () => {
      await sql(`insert into platform_users (id, email, status, provider)
        select gen_random_uuid(), 'flood' || n || '@example.com', 'unverified', 'default' from generate_series(1, 10000) n`);
      await sql(`insert into platform_registrations ("user", expires, sent, since, last)
        select id, now() + interval '1 day', 1, now(), now() from platform_users where email like 'flood%'`);
      for (const email of [createAddress(), service.admin.email])
        expect(statusAndCodeOf(await register({ email, password: PASSWORD }))).to.deep.equal([
          503,
          'SERVICE_UNAVAILABLE',
        ]);
      await sql(`delete from platform_users where email like 'flood%'`);
    });
  });

  describe('PATCH /settings', () => {
    it('refuses the role of an admin, the Public role and a filter that is none with INVALID_PAYLOAD', async () => {
      const adminRole = await makeRole(service, { admin_access: true });
      for (const values of [
        { public_registration_role: adminRole },
        { public_registration_role: adminRole.toUpperCase() },
        { public_registration_role: '00000000-0000-0000-0000-000000000000' },
        { public_registration_email_filter: ['a'] },
        { public_registration_email_filter: 'a@example.com' },
      ])
        expect(statusAndCodeOf(await admin('PATCH', '/settings', values)), JSON.stringify(values)).to.deep.equal([
          400,
          'INVALID_PAYLOAD',
        ]);
    });
  });

  describe('GET /users/register/verify-email', () => {
    it('makes the user active and redirects to the sign-in page; the link may be opened again', async () => {
      const { email, link } = await createRegistration();
      // The link leads to PUBLIC_URL, which is this service for its clients.
      const path = `/users/register/verify-email${link.search}`;
      for (let at = 0; at < 2; at++) {
        const reply = await service.request('GET', path);
        expect([reply.status, reply.headers.get('location'), reply.body]).to.deep.equal([
          302,
          `${PUBLIC_URL}/admin/login`,
          undefined,
        ]);
      }
      expect((await login(email)).status).to.equal(200);
      expect(
        await sql('select 1 from platform_registrations where "user" = $1', [(await findUser(email))?.id]),
      ).to.deep.equal([]);
    });

    it('a confirmation and another registration at the same time are decided one after the other', async () => {
      for (let round = 0; round < 8; round++) {
        const { email, link } = await createRegistration();
        await passMinute();
        const [confirmed, again] = await Promise.all([
          verify(tokenOf(link)),
          register({ email, password: 'the other password' }),
        ]);
        expect(again.status).to.equal(204);
        const isConfirmed = confirmed.status === 302;
        if (!isConfirmed) expect(statusAndCodeOf(confirmed)).to.deep.equal([403, 'INVALID_TOKEN']);
        expect((await findUser(email))?.status).to.equal(isConfirmed ? 'active' : 'unverified');
        expect((await login(email)).status === 200).to.equal(isConfirmed);
      }
    });

    it('answers 401 USER_SUSPENDED for a user whom an admin has suspended, before and after the confirmation', async () => {
      const { email, link } = await createRegistration();
      const { id } = (await findUser(email)) as { id: string };
      await admin('PATCH', `/users/${id}`, { status: 'suspended' });
      expect(statusAndCodeOf(await verify(tokenOf(link)))).to.deep.equal([401, 'USER_SUSPENDED']);
      expect((await findUser(email))?.status).to.equal('suspended');
    });

    it('answers 403 INVALID_TOKEN for forged tokens, those of other purposes, and changed users', async () => {
      const { email, link } = await createRegistration();
      const token = tokenOf(link);
      const { 'an empty text': empty, ...forged } = forgeLinkTokens(token);
      for (const [title, one] of Object.entries(forged))
        expect(statusAndCodeOf(await verify(one)), title).to.deep.equal([403, 'INVALID_TOKEN']);
      for (const scope of ['password-reset', 'invitation'])
        expect(statusAndCodeOf(await verify(signChangedLinkToken(token, { scope })))).to.deep.equal([
          403,
          'INVALID_TOKEN',
        ]);
      expect((await findUser(email))?.status).to.equal('unverified');
      await admin('PATCH', `/users/${(await findUser(email))?.id}`, { email: createAddress() });
      expect(statusAndCodeOf(await verify(token))).to.deep.equal([403, 'INVALID_TOKEN']);
      expect(empty).to.equal('');
    });

    it('answers 401 TOKEN_EXPIRED for a link that is older than seven days', async () => {
      const token = tokenOf((await createRegistration()).link);
      const { iat, exp } = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
      expect(exp - iat).to.equal(7 * 24 * 60 * 60);
      expect(statusAndCodeOf(await verify(expireLinkToken(token)))).to.deep.equal([401, 'TOKEN_EXPIRED']);
    });

    it('answers 400 INVALID_PAYLOAD without a token, and for several', async () => {
      for (const query of ['', '?token=', '?token[]=a&token[]=b', '?token=a&token=b'])
        expect((await service.request('GET', `/users/register/verify-email${query}`)).status, query).to.be.oneOf([
          400, 403,
        ]);
    });
  });

  describe('GraphQL', () => {
    const REGISTER =
      'mutation ($email: String!, $password: String!, $page: String) { users_register(email: $email, password: $password, verification_url: $page, first_name: "Ann") }';
    const VERIFY = 'mutation ($token: String!) { users_register_verify(token: $token) }';
    const mutate = (query: string, variables: object) =>
      service.request('POST', '/graphql/system', { body: { query, variables } });

    it('users_register and users_register_verify answer true, and make an active user', async () => {
      const email = createAddress();
      const registered = await mutate(REGISTER, { email, password: PASSWORD, page: PAGE });
      expect(registered.body).to.deep.equal({ data: { users_register: true } });
      const token = tokenOf(await mails.linkFor(email));
      expect((await mutate(VERIFY, { token })).body).to.deep.equal({ data: { users_register_verify: true } });
      expect(await findUser(email)).to.include({ status: 'active', first_name: 'Ann' });
      expect(errorCodeOf(await mutate(VERIFY, { token: expireLinkToken(token) }))).to.equal('TOKEN_EXPIRED');
      const known = await mutate(REGISTER, { email, password: 'another one' });
      expect(known.body).to.deep.equal({ data: { users_register: true } });
    });

    it('users_register refuses what POST /users/register refuses', async () => {
      const variables = { email: createAddress(), password: PASSWORD };
      expect(errorCodeOf(await mutate(REGISTER, { ...variables, page: 'https://evil.org' }))).to.equal(
        'INVALID_PAYLOAD',
      );
      await set({ public_registration: false });
      expect(errorCodeOf(await mutate(REGISTER, variables))).to.equal('FORBIDDEN');
      await set({ public_registration: true });
    });
  });
});

describe('registrations without a confirmation', function () {
  this.timeout(180_000);

  it('are deleted once their time is over, also where no process was up then; users with another status stay', async () => {
    const mails = await startMailLinks();
    const database = await createMigratedDatabase('registration');
    const env = { ...mails.env, REGISTER_STALL_TIME: '1' };
    const emails = ['new@example.com', 'old@example.com', 'suspended@example.com'];
    const listUsers = async () => {
      const rows = await database.query<{ email: string }>(
        'select email from platform_users where email = any($1) order by email',
        [emails],
      );
      return rows.map(({ email }) => email);
    };
    let service = await startService({ env, database });
    try {
      const admin = createUserSender(service, service.admin.token);
      await admin('PATCH', '/settings', { public_registration: true });
      for (const email of emails) {
        const body = { email, password: PASSWORD };
        expect((await service.request('POST', '/users/register', { body })).status).to.equal(204);
      }
      await service.stop();
      await database.query(`update platform_users set status = 'suspended' where email = 'suspended@example.com'`);
      await database.query(`update platform_registrations set expires = now() - interval '1 second'
        where "user" in (select id from platform_users where email <> 'new@example.com')`);
      await database.query(`update platform_schedule_ticks set tick = tick - interval '3 hours'
        where schedule = 'removal of expired registrations'`);
      expect(await listUsers()).to.deep.equal(emails);
      service = await startService({ env, database });
      const left = emails.filter((email) => email !== 'old@example.com');
      await until(async () => (await listUsers()).length === left.length);
      expect(await listUsers()).to.deep.equal(left);
      await until(async () => (await database.query('select 1 from platform_registrations')).length === 1);
    } finally {
      await service.stop();
      await database.drop();
      await mails.server.stop();
    }
  });
});

describe('the limit of registrations', function () {
  this.timeout(180_000);

  it('answers 429 REQUESTS_EXCEEDED to the sixth registration of an address in a minute, by HTTP and GraphQL together', async () => {
    const service = await startService({ env: { REGISTER_STALL_TIME: '1' } });
    try {
      const admin = createUserSender(service, service.admin.token);
      await admin('PATCH', '/settings', { public_registration: true, public_registration_verify_email: false });
      const query = (at: number) => `mutation { users_register(email: "g${at}@example.com", password: "${PASSWORD}") }`;
      for (let at = 0; at < 3; at++) {
        const body = { email: `r${at}@example.com`, password: PASSWORD };
        expect((await service.request('POST', '/users/register', { body })).status).to.equal(204);
      }
      for (let at = 0; at < 2; at++)
        expect(
          (await service.request('POST', '/graphql/system', { body: { query: query(at) } })).body.data,
        ).to.deep.equal({ users_register: true });
      const refused = await service.request('POST', '/users/register', {
        body: { email: 'r9@example.com', password: PASSWORD },
      });
      expect(statusAndCodeOf(refused)).to.deep.equal([429, 'REQUESTS_EXCEEDED']);
      expect(Number(refused.headers.get('retry-after'))).to.be.within(1, 60);
      expect(errorCodeOf(await service.request('POST', '/graphql/system', { body: { query: query(9) } }))).to.equal(
        'REQUESTS_EXCEEDED',
      );
      // Other requests are not limited.
      expect((await service.request('GET', '/server/ping')).status).to.equal(200);
    } finally {
      await service.stop();
    }
  });

  it('counts over all processes with RATE_LIMITER_STORE=postgres', async () => {
    const database = await createMigratedDatabase('registration');
    const env = { REGISTER_STALL_TIME: '1', RATE_LIMITER_STORE: 'postgres', RATE_LIMITER_REGISTRATION_POINTS: '3' };
    const services = [await startService({ env, database }), await startService({ env, database })] as const;
    try {
      const admin = createUserSender(services[0], services[0].admin.token);
      await admin('PATCH', '/settings', { public_registration: true, public_registration_verify_email: false });
      const statuses: number[] = [];
      for (let at = 0; at < 6; at++) {
        const body = { email: `p${at}@example.com`, password: PASSWORD };
        statuses.push((await services[at % 2]?.request('POST', '/users/register', { body }))?.status ?? 0);
      }
      expect(statuses).to.deep.equal([204, 204, 204, 429, 429, 429]);
    } finally {
      for (const service of services) await service.stop();
      await database.drop();
    }
  });

  it('counts in memory with RATE_LIMITER_STORE=redis where no Redis is configured', async () => {
    const env = { REGISTER_STALL_TIME: '1', RATE_LIMITER_STORE: 'redis', RATE_LIMITER_REGISTRATION_POINTS: '1' };
    const service = await startService({ env });
    try {
      const admin = createUserSender(service, service.admin.token);
      await admin('PATCH', '/settings', { public_registration: true, public_registration_verify_email: false });
      for (const [email, status] of [
        ['m1@example.com', 204],
        ['m2@example.com', 429],
      ] as const)
        expect(
          (await service.request('POST', '/users/register', { body: { email, password: PASSWORD } })).status,
        ).to.equal(status);
    } finally {
      await service.stop();
    }
  });
});

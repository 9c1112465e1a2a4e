import { expect } from 'chai';
import type { FreshDatabase } from '../../support/database.ts';
import { createMigratedDatabase, type HttpReply, type InProcessService, startService } from '../../support/service.ts';
import {
  createTestUserAccount,
  createUserSender,
  makeRole,
  type SendAsUser,
  statusAndCodeOf,
  type TestUserAccount,
} from '../users/test-users.ts';

const STALL = 120;
const WRONG = [401, 'INVALID_CREDENTIALS'] as const;

describe('sessions', () => {
  let database: FreshDatabase;
  /** Two processes of the service on one database. */
  let here: InProcessService;
  let there: InProcessService;
  let admin: SendAsUser;
  let role: string;
  let person: TestUserAccount;

  before(async function () {
    this.timeout(120_000);
    database = await createMigratedDatabase('sign_in');
    const env = { LOGIN_STALL_TIME: String(STALL) };
    here = await startService({ database, env });
    there = await startService({ database, env });
    admin = createUserSender(here, here.admin.token);
    role = await makeRole(here, { app_access: true });
  });
  beforeEach(async () => {
    person = await createTestUserAccount(here, role);
  });
  after(async () => {
    await Promise.all([here?.stop(), there?.stop()]);
    await database?.drop();
  });

  const post = (path: string, body?: unknown, cookie?: string, service = here): Promise<HttpReply> =>
    service.request('POST', path, { body, headers: cookie === undefined ? {} : { cookie } });
  const login = (more: Record<string, unknown> = {}, who = person) =>
    post('/auth/login', { email: who.email, password: who.password, ...more });
  const refresh = (token: unknown, service = here) =>
    post('/auth/refresh', { refresh_token: token }, undefined, service);
  const cookieOf = (reply: HttpReply) => reply.headers.getSetCookie()[0] ?? '';
  const me = (token: string, service = here) => service.request('GET', '/users/me?fields=id', { token });

  describe('POST /auth/login', () => {
    it('answers an access token and a refresh token', async () => {
      const { status, body, headers } = await login();
      expect(status).to.equal(200);
      expect(body.data).to.have.keys('access_token', 'refresh_token', 'expires');
      expect(body.data.expires).to.equal(900_000);
      expect(body.data.refresh_token).to.match(/^[\w-]{64}$/);
      expect(headers.get('cache-control')).to.equal('no-store');
      expect((await me(body.data.access_token)).body.data).to.deep.equal({ id: person.id });
      expect((await me(body.data.access_token, there)).body.data).to.deep.equal({ id: person.id });
      const rows = await database.query<{ last_access: Date }>('select last_access from platform_users where id = $1', [
        person.id,
      ]);
      expect(Date.now() - Number(rows[0]?.last_access)).to.be.lessThan(60_000);
    });

    it('stores a hash of the refresh token only', async () => {
      const { refresh_token: token } = (await login()).body.data;
      expect(await database.query('select 1 from platform_sessions where token = $1', [token])).to.deep.equal([]);
      const stored = await database.query<{ token: string }>('select token from platform_sessions where "user" = $1', [
        person.id,
      ]);
      expect(statusAndCodeOf(await refresh(stored[0]?.token))).to.deep.equal(WRONG);
    });

    it('puts the refresh token into a cookie in mode cookie', async () => {
      const reply = await login({ mode: 'cookie' });
      expect(reply.body.data).to.have.keys('access_token', 'expires');
      expect(cookieOf(reply)).to.match(
        /^service_refresh_token=[\w-]{64}; Max-Age=604800; Path=\/; HttpOnly; SameSite=Lax$/,
      );
    });

    it('ignores the case of the e-mail address', async () => {
      expect((await login({ email: person.email.toUpperCase() })).status).to.equal(200);
    });

    it('answers a wrong password, an empty password and an unknown address alike, after LOGIN_STALL_TIME', async () => {
      for (const more of [{ password: 'wrong' }, { password: '' }, { email: 'unknown@example.com' }, { email: '' }]) {
        const started = performance.now();
        const reply = await login(more);
        expect(performance.now() - started, JSON.stringify(more)).to.be.at.least(STALL - 2);
        expect(statusAndCodeOf(reply), JSON.stringify(more)).to.deep.equal(WRONG);
      }
    });

    it('rejects a missing or non-text email or password, and an unknown mode, with INVALID_PAYLOAD', async () => {
      for (const body of [
        {},
        { email: 'a@b.c' },
        { password: 'x' },
        { email: 1, password: 'x' },
        [],
        { ...person, mode: 'session' },
      ]) {
        expect(statusAndCodeOf(await post('/auth/login', body)), JSON.stringify(body)).to.deep.equal([
          400,
          'INVALID_PAYLOAD',
        ]);
      }
      expect(statusAndCodeOf(await post('/auth/login', '{"email":'))).to.deep.equal([400, 'INVALID_PAYLOAD']);
    });

    it('rejects users that are not active or have another provider', async () => {
      for (const status of ['draft', 'invited', 'suspended', 'archived']) {
        await admin('PATCH', `/users/${person.id}`, { status });
        expect(statusAndCodeOf(await login())).to.deep.equal([401, 'USER_SUSPENDED']);
        expect(statusAndCodeOf(await login({ password: 'wrong' }))).to.deep.equal(WRONG);
      }
      await admin('PATCH', `/users/${person.id}`, { status: 'active', provider: 'elsewhere' });
      expect(statusAndCodeOf(await login())).to.deep.equal([401, 'INVALID_PROVIDER']);
    });

    it('rejects users without a password', async () => {
      await admin('PATCH', `/users/${person.id}`, { password: null });
      expect(statusAndCodeOf(await login({ password: 'null' }))).to.deep.equal(WRONG);
    });

    it('deletes expired sessions', async () => {
      await login();
      await database.query(`update platform_sessions set expires = now() - interval '1 s'`);
      await login();
      expect(await database.query('select 1 from platform_sessions')).to.have.length(1);
    });
  });

  describe('POST /auth/refresh', () => {
    it('invalidates the old refresh token', async () => {
      const first = (await login()).body.data.refresh_token;
      const second = await refresh(first);
      expect(second.status).to.equal(200);
      expect(second.body.data.refresh_token)
        .to.match(/^[\w-]{64}$/)
        .and.not.equal(first);
      expect((await me(second.body.data.access_token)).status).to.equal(200);
      expect(statusAndCodeOf(await refresh(first))).to.deep.equal(WRONG);
      expect((await refresh(second.body.data.refresh_token)).status).to.equal(200);
    });

    it('succeeds once for concurrent requests with one token over two processes', async function () {
      this.timeout(120_000);
      for (let round = 0; round < 10; round++) {
        const token = (await login()).body.data.refresh_token;
        const replies = await Promise.all([here, there, here, there].map((service) => refresh(token, service)));
        const winners = replies.filter(({ status }) => status === 200);
        expect(replies.map(({ status }) => status).sort()).to.deep.equal([200, 401, 401, 401]);
        expect((await refresh(winners[0]?.body.data.refresh_token)).status).to.equal(200);
      }
    });

    it('derives the mode from body and cookie where none is sent', async () => {
      const cookie = cookieOf(await login({ mode: 'cookie' })).split(';', 1)[0];
      const renewed = await post('/auth/refresh', undefined, cookie);
      expect(renewed.body.data).to.have.keys('access_token', 'expires');
      const next = cookieOf(renewed).split(';', 1)[0] as string;
      expect(next)
        .to.match(/^service_refresh_token=[\w-]{64}$/)
        .and.not.equal(cookie);
      const json = await post('/auth/refresh', { mode: 'json', refresh_token: next.split('=')[1] });
      expect(json.body.data).to.have.property('refresh_token');
      expect(json.headers.getSetCookie()).to.deep.equal([]);
    });

    it('uses the cookie in mode json when the body has no token, and answers in the body', async () => {
      const cookie = cookieOf(await login({ mode: 'cookie' })).split(';', 1)[0];
      const renewed = await post('/auth/refresh', { mode: 'json' }, cookie);
      expect([renewed.status, cookieOf(renewed)]).to.deep.equal([
        200,
        'service_refresh_token=; Max-Age=0; Path=/; HttpOnly; SameSite=Lax',
      ]);
      expect((await refresh(renewed.body.data.refresh_token)).status).to.equal(200);
    });

    it('rejects a missing or unknown refresh token with INVALID_CREDENTIALS', async () => {
      expect(statusAndCodeOf(await post('/auth/refresh'))).to.deep.equal(WRONG);
      expect(statusAndCodeOf(await post('/auth/refresh', { mode: 'json' }))).to.deep.equal(WRONG);
      expect(statusAndCodeOf(await post('/auth/refresh', {}))).to.deep.equal(WRONG);
      expect(statusAndCodeOf(await post('/auth/refresh', { mode: 'cookie' }))).to.deep.equal(WRONG);
      expect(statusAndCodeOf(await refresh('unknown'))).to.deep.equal(WRONG);
      expect(statusAndCodeOf(await refresh(7))).to.deep.equal([400, 'INVALID_PAYLOAD']);
      expect(statusAndCodeOf(await post('/auth/refresh', { mode: 'session' }))).to.deep.equal([400, 'INVALID_PAYLOAD']);
    });

    it('rejects an expired refresh token with TOKEN_EXPIRED', async () => {
      const token = (await login()).body.data.refresh_token;
      await database.query(`update platform_sessions set expires = now() - interval '1 s' where "user" = $1`, [
        person.id,
      ]);
      expect(statusAndCodeOf(await refresh(token))).to.deep.equal([401, 'TOKEN_EXPIRED']);
      expect(statusAndCodeOf(await refresh(token))).to.deep.equal(WRONG);
    });

    it('rejects users that are no longer active with USER_SUSPENDED', async () => {
      const token = (await login()).body.data.refresh_token;
      await database.query(`update platform_users set status = 'archived' where id = $1`, [person.id]);
      expect(statusAndCodeOf(await refresh(token))).to.deep.equal([401, 'USER_SUSPENDED']);
      expect(await database.query('select 1 from platform_sessions where "user" = $1', [person.id])).to.deep.equal([]);
    });

    it('puts the current role and flags into the new access token', async () => {
      const other = await makeRole(here, {}, [{ collection: 'platform_roles', action: 'read' }]);
      const { access_token: old, refresh_token: token } = (await login()).body.data;
      await admin('PATCH', `/users/${person.id}`, { role: other });
      expect((await here.request('GET', '/roles?fields=id', { token: old })).body.data).to.deep.equal([{ id: role }]);
      const fresh = (await refresh(token)).body.data.access_token;
      expect((await here.request('GET', '/roles?fields=id', { token: fresh })).body.data.length).to.be.greaterThan(2);
    });
  });

  describe('the end of a session', () => {
    it('POST /auth/logout ends the session of the token in the body or the cookie', async () => {
      const token = (await login()).body.data.refresh_token;
      const out = await post('/auth/logout', { refresh_token: token });
      expect([out.status, out.body]).to.deep.equal([204, undefined]);
      expect(statusAndCodeOf(await refresh(token))).to.deep.equal(WRONG);
      const cookie = cookieOf(await login({ mode: 'cookie' })).split(';', 1)[0];
      const cleared = await post('/auth/logout', undefined, cookie);
      expect(cleared.status).to.equal(204);
      expect(cookieOf(cleared)).to.match(/^service_refresh_token=; Max-Age=0; Path=\/; HttpOnly/);
      expect(statusAndCodeOf(await post('/auth/refresh', undefined, cookie))).to.deep.equal(WRONG);
      expect(statusAndCodeOf(await post('/auth/logout'))).to.deep.equal(WRONG);
      expect((await post('/auth/logout', { refresh_token: 'unknown' })).status).to.equal(204);
    });

    it('POST /auth/logout prefers the token of the body to that of the cookie', async () => {
      const cookie = cookieOf(await login({ mode: 'cookie' })).split(';', 1)[0];
      const token = (await login()).body.data.refresh_token;
      await post('/auth/logout', { refresh_token: token }, cookie);
      expect(statusAndCodeOf(await refresh(token))).to.deep.equal(WRONG);
      expect((await post('/auth/refresh', undefined, cookie)).status).to.equal(200);
    });

    it('a new password, e-mail address or status ends the sessions, and no other change does', async () => {
      const changes: readonly (readonly [Record<string, unknown>, boolean])[] = [
        [{ first_name: 'Kim', email: person.email, status: 'active' }, false],
        [{ password: 'a new one' }, true],
        [{ email: `new-${person.email}` }, true],
        [{ status: 'suspended' }, true],
      ];
      let who = person;
      for (const [change, ends] of changes) {
        const token = (await login({}, who)).body.data.refresh_token;
        expect((await admin('PATCH', `/users/${person.id}`, change)).status).to.equal(200);
        expect((await refresh(token)).status, JSON.stringify(change)).to.equal(ends ? 401 : 200);
        who = { ...who, ...(change as object) };
      }
    });

    it('a password change during a refresh leaves no session', async function () {
      this.timeout(120_000);
      for (let round = 0; round < 8; round++) {
        const token = (await login()).body.data.refresh_token;
        const [renewed] = await Promise.all([
          refresh(token, there),
          admin('PATCH', `/users/${person.id}`, { password: person.password }),
        ]);
        if (renewed.status === 200) expect((await refresh(renewed.body.data.refresh_token)).status).to.equal(401);
        expect(await database.query('select 1 from platform_sessions where "user" = $1', [person.id])).to.deep.equal(
          [],
        );
      }
    });
  });
});

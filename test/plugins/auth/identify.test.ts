import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import jwt from 'jsonwebtoken';
import type { FreshDatabase } from '../../support/database.ts';
import { createMigratedDatabase, type InProcessService, startService, TEST_SECRET } from '../../support/service.ts';
import { until } from '../../support/until.ts';
import {
  createTestUserAccount,
  createUserSender,
  makeRole,
  type SendAsUser,
  statusAndCodeOf,
  type TestUserAccount,
} from '../users/test-users.ts';

describe('the caller of a request', () => {
  let database: FreshDatabase;
  let here: InProcessService;
  let there: InProcessService;
  let admin: SendAsUser;
  let role: string;
  let person: TestUserAccount;

  before(async function () {
    this.timeout(120_000);
    database = await createMigratedDatabase('identify');
    here = await startService({ database });
    there = await startService({ database });
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

  const me = (authorization?: string, query = '', service = here) =>
    service.request('GET', `/users/me?fields=id${query}`, {
      headers: authorization === undefined ? {} : { authorization },
    });
  const signIn = async (who = person) =>
    (await here.request('POST', '/auth/login', { body: who })).body.data.access_token as string;

  it('the Authorization header sets the caller, whatever the case of its scheme', async () => {
    for (const scheme of ['Bearer', 'bearer', 'BEARER']) {
      expect((await me(`${scheme} ${person.token}`)).body.data).to.deep.equal({ id: person.id });
    }
  });

  it('access_token in the query sets the caller of a request without the header', async () => {
    expect((await me(undefined, `&access_token=${person.token}`)).body.data).to.deep.equal({ id: person.id });
    expect((await me('Basic abc', `&access_token=${person.token}`)).body.data).to.deep.equal({ id: person.id });
    expect(statusAndCodeOf(await me(undefined, '&access_token=a&access_token=b'))).to.deep.equal([
      400,
      'INVALID_QUERY',
    ]);
  });

  it('the header takes precedence over access_token in the query', async () => {
    const other = await createTestUserAccount(here, role);
    expect((await me(`Bearer ${person.token}`, `&access_token=${other.token}`)).body.data).to.deep.equal({
      id: person.id,
    });
    expect(statusAndCodeOf(await me('Bearer wrong', `&access_token=${person.token}`))).to.deep.equal([
      401,
      'INVALID_CREDENTIALS',
    ]);
  });

  it('a header of another form leaves the caller Public', async () => {
    for (const header of ['Bearer', 'Bearer  ', person.token, `Bearer ${person.token} x`]) {
      expect(statusAndCodeOf(await me(header)), header).to.deep.equal([401, 'INVALID_CREDENTIALS']);
      expect((await here.request('GET', '/server/info', { headers: { authorization: header } })).status).to.equal(200);
    }
  });

  it('a wrong token fails every request but /server/ping', async () => {
    const expired = jwt.sign(
      { id: person.id, role, app_access: true, admin_access: false, iss: 'service', exp: 1 },
      TEST_SECRET,
    );
    const forged = jwt.sign({ id: person.id, role, app_access: true, admin_access: true, iss: 'service' }, 'another', {
      expiresIn: 60,
    });
    const cases: readonly (readonly [string, number, string])[] = [
      ['unknown', 401, 'INVALID_CREDENTIALS'],
      [expired, 401, 'TOKEN_EXPIRED'],
      [forged, 403, 'INVALID_TOKEN'],
      [jwt.sign({ id: person.id, iss: 'elsewhere' }, TEST_SECRET), 401, 'INVALID_CREDENTIALS'],
    ];
    for (const [token, status, code] of cases) {
      for (const path of ['/users/me', '/server/info', '/nowhere']) {
        expect(statusAndCodeOf(await here.request('GET', path, { token })), `${path} ${code}`).to.deep.equal([
          status,
          code,
        ]);
      }
      expect((await here.request('GET', '/server/ping', { token })).body).to.equal('pong');
    }
    expect(statusAndCodeOf(await me(undefined, '&access_token=a%00b'))[0]).to.be.oneOf([400, 401]);
  });

  it('a static token that is removed is refused by every process before the removal is answered', async () => {
    const bearer = `Bearer ${person.token}`;
    const everywhere = async (query = '') => {
      const replies = await Promise.all([here, there].map((service) => me(bearer, query, service)));
      return replies.map(statusAndCodeOf);
    };
    const refused = (code: string) => [here, there].map(() => [401, code]);
    for (const service of [here, there]) expect((await me(bearer, '', service)).status).to.equal(200);
    await admin('PATCH', `/users/${person.id}`, { status: 'archived' });
    expect(await everywhere()).to.deep.equal(refused('USER_SUSPENDED'));
    await admin('PATCH', `/users/${person.id}`, { status: 'active' });
    for (const service of [here, there]) expect((await me(bearer, '', service)).status).to.equal(200);
    await admin('PATCH', `/users/${person.id}`, { token: null });
    expect(await everywhere()).to.deep.equal(refused('INVALID_CREDENTIALS'));
    await admin('PATCH', `/users/${person.id}`, { token: person.token });
    for (const service of [here, there]) expect((await me(bearer, '', service)).status).to.equal(200);
    await admin('DELETE', `/users/${person.id}`);
    expect(await everywhere()).to.deep.equal(refused('INVALID_CREDENTIALS'));
  });

  it('a static token has the role and flags of this moment in every process', async () => {
    const bearer = `Bearer ${person.token}`;
    const roles = async () => {
      const replies = await Promise.all(
        [here, there].map((service) => service.request('GET', '/users/me?fields=role', { token: person.token })),
      );
      return replies.map(({ body }) => body.data.role);
    };
    expect(await roles()).to.deep.equal([role, role]);
    const other = await makeRole(here, { admin_access: true });
    await admin('PATCH', `/users/${person.id}`, { role: other });
    expect(await roles()).to.deep.equal([other, other]);
    for (const service of [here, there])
      expect((await service.request('GET', '/roles', { token: person.token })).body.data.length).to.be.above(1);
    await admin('PATCH', `/roles/${other}`, { admin_access: false });
    for (const service of [here, there])
      expect(statusAndCodeOf(await service.request('GET', '/settings', { token: person.token }))).to.deep.equal([
        403,
        'FORBIDDEN',
      ]);
    expect((await me(bearer)).status).to.equal(200);
  });

  it('a static token that is changed by SQL is refused by every process', async () => {
    const bearer = `Bearer ${person.token}`;
    for (const service of [here, there]) expect((await me(bearer, '', service)).status).to.equal(200);
    await database.query(`update platform_users set status = 'archived' where id = $1`, [person.id]);
    for (const service of [here, there]) {
      await until(async () => (await me(bearer, '', service)).status === 401);
      expect(statusAndCodeOf(await me(bearer, '', service))).to.deep.equal([401, 'USER_SUSPENDED']);
    }
    await database.query(`update platform_users set status = 'active', token = null where id = $1`, [person.id]);
    expect(statusAndCodeOf(await me(bearer))).to.deep.equal([401, 'INVALID_CREDENTIALS']);
  });

  it('an access token of a suspended or deleted user is refused by every process', async () => {
    const token = await signIn();
    for (const service of [here, there]) expect((await me(`Bearer ${token}`, '', service)).status).to.equal(200);
    await admin('PATCH', `/users/${person.id}`, { status: 'suspended' });
    expect(statusAndCodeOf(await me(`Bearer ${token}`))).to.deep.equal([401, 'USER_SUSPENDED']);
    while ((await me(`Bearer ${token}`, '', there)).status === 200) await pause(10);
    await admin('PATCH', `/users/${person.id}`, { status: 'active' });
    expect((await me(`Bearer ${token}`)).status).to.equal(200);
    await admin('DELETE', `/users/${person.id}`);
    expect(statusAndCodeOf(await me(`Bearer ${token}`))).to.deep.equal([401, 'INVALID_CREDENTIALS']);
  });

  it('an access token stays valid after the logout', async () => {
    const { access_token: token, refresh_token } = (await here.request('POST', '/auth/login', { body: person })).body
      .data;
    await here.request('POST', '/auth/logout', { body: { refresh_token } });
    expect((await me(`Bearer ${token}`)).status).to.equal(200);
  });

  it('ip_access matches single addresses, CIDR and ranges, of IPv4 and IPv6', async () => {
    const bound = await makeRole(here, { app_access: true });
    const { token } = await createTestUserAccount(here, bound);
    const answers = async (ip_access: unknown) => {
      const reply = await admin('PATCH', `/roles/${bound}`, { ip_access });
      expect(reply.status, JSON.stringify(reply.body)).to.equal(200);
      return (await me(`Bearer ${token}`)).status;
    };
    const among = ['127.0.0.0/8', '127.0.0.1-127.0.0.9', '::ffff:127.0.0.1', '::ffff:127.0.0.0/104', '0.0.0.0/0'];
    for (const range of [...among, '10.0.0.1, 127.0.0.0/30'])
      expect([range, await answers(range)]).to.deep.equal([range, 200]);
    expect(await answers(['fd00::/8', '126.255.255.255 - 127.0.0.1'])).to.equal(200);
    for (const range of ['127.0.0.2-127.0.0.9', '10.0.0.0/8', '::1', '::/0', 'fe80::1%eth0'])
      expect([range, await answers(range)]).to.deep.equal([range, 401]);
    expect(await answers(null)).to.equal(200);
  });

  it('an unreadable address in ip_access matches no client, and the other entries still match', async () => {
    const bound = await makeRole(here, { app_access: true });
    const { token } = await createTestUserAccount(here, bound);
    await here.database.query(`update platform_roles set ip_access = 'nonsense' where id = $1`, [bound]);
    await until(async () => (await me(`Bearer ${token}`)).status === 401);
    await here.database.query(`update platform_roles set ip_access = 'nonsense,127.0.0.0/8' where id = $1`, [bound]);
    await until(async () => (await me(`Bearer ${token}`)).status === 200);
  });

  it('a client outside of ip_access is rejected with INVALID_IP', async () => {
    const bound = await makeRole(here, { app_access: true, ip_access: ['10.0.0.1'] });
    const guest = await createTestUserAccount(here, bound);
    const refused = [401, 'INVALID_IP'];
    expect(statusAndCodeOf(await me(`Bearer ${guest.token}`))).to.deep.equal(refused);
    expect(statusAndCodeOf(await here.request('POST', '/auth/login', { body: guest }))).to.deep.equal(refused);
    await admin('PATCH', `/roles/${bound}`, { ip_access: ['10.0.0.1', '127.0.0.1'] });
    const { access_token: token, refresh_token } = (await here.request('POST', '/auth/login', { body: guest })).body
      .data;
    expect((await me(`Bearer ${token}`)).status).to.equal(200);
    await admin('PATCH', `/roles/${bound}`, { ip_access: ['10.0.0.1'] });
    expect(statusAndCodeOf(await me(`Bearer ${token}`))).to.deep.equal(refused);
    expect(statusAndCodeOf(await here.request('POST', '/auth/refresh', { body: { refresh_token } }))).to.deep.equal(
      refused,
    );
  });
});

import { expect } from 'chai';
import { type InProcessService, startService } from '../../support/service.ts';
import {
  createTestUserAccount,
  createUserSender,
  makeRole,
  type SendAsUser,
  statusAndCodeOf,
  type TestUserAccount,
} from '../users/test-users.ts';

const FORBIDDEN = [403, 'FORBIDDEN'];
const WRONG = [401, 'INVALID_CREDENTIALS'];
const UNKNOWN = '00000000-0000-4000-8000-000000000000';

interface Tokens {
  readonly access_token: string;
  readonly refresh_token: string;
}

describe('sessions of users', () => {
  let service: InProcessService;
  let admin: SendAsUser;
  let person: TestUserAccount;
  before(async function () {
    this.timeout(120_000);
    service = await startService();
    admin = createUserSender(service, service.admin.token);
  });
  beforeEach(async () => {
    person = await createTestUserAccount(service, await makeRole(service));
  });
  after(() => service?.stop());

  const signIn = async (agent = 'test', who = person): Promise<Tokens> => {
    const body = { email: who.email, password: who.password };
    const headers = { 'user-agent': agent, origin: 'https://app.example.com' };
    return (await service.request('POST', '/auth/login', { body, headers })).body.data;
  };
  const refresh = (token: string, agent = 'test') =>
    service.request('POST', '/auth/refresh', { body: { refresh_token: token }, headers: { 'user-agent': agent } });
  const as = ({ access_token }: Tokens) => createUserSender(service, access_token);
  const idOf = (tokens: Tokens): string =>
    JSON.parse(Buffer.from(tokens.access_token.split('.')[1] as string, 'base64url').toString()).session;

  describe('GET /users/me/sessions', () => {
    it('lists the open sessions with their client, the one used last first, and marks the current one', async () => {
      const first = await signIn('first browser');
      const second = await signIn('second browser');
      const { status, body } = await as(first)('GET', '/users/me/sessions');
      expect(status).to.equal(200);
      expect(body.data.map((one: { id: string; current: boolean }) => [one.id, one.current])).to.deep.equal([
        [idOf(second), false],
        [idOf(first), true],
      ]);
      const [{ created, last_used, expires, ...rest }] = body.data;
      expect(rest).to.deep.equal({
        id: idOf(second),
        current: false,
        ip: '127.0.0.1',
        user_agent: 'second browser',
        origin: 'https://app.example.com',
      });
      expect(created).to.equal(last_used);
      expect(Date.parse(expires) - Date.parse(created)).to.be.within(604_799_000, 604_801_000);
      expect(JSON.stringify(body)).not.to.include(second.refresh_token);
    });

    it('shows one session with one id and one beginning over all its refreshes', async () => {
      const first = await signIn('before');
      const [before] = (await as(first)('GET', '/users/me/sessions')).body.data;
      const next: Tokens = (await refresh(first.refresh_token, 'after')).body.data;
      expect(idOf(next)).to.equal(idOf(first));
      const { data } = (await as(next)('GET', '/users/me/sessions')).body;
      expect(data).to.have.length(1);
      expect([data[0].id, data[0].created, data[0].user_agent, data[0].current]).to.deep.equal([
        before.id,
        before.created,
        'after',
        true,
      ]);
      expect(Date.parse(data[0].last_used)).to.be.greaterThan(Date.parse(before.last_used));
    });

    it('leaves out sessions that have expired, are of other users, or belong to a share', async () => {
      const tokens = await signIn();
      await signIn('other', await createTestUserAccount(service, person.role));
      for (const change of [`expires = now() - interval '1 s'`, 'share = gen_random_uuid()']) {
        const other = await signIn('hidden');
        await service.database.query(`update platform_sessions set ${change} where id = $1`, [idOf(other)]);
      }
      const { data } = (await as(tokens)('GET', '/users/me/sessions')).body;
      expect(data.map((one: { id: string }) => one.id)).to.deep.equal([idOf(tokens)]);
    });

    it('answers null for the dates of a session that an earlier version opened, and refreshes it', async () => {
      const tokens = await signIn();
      await service.database.query('update platform_sessions set created = null, last_used = null where id = $1', [
        idOf(tokens),
      ]);
      const [old] = (await person.ask('GET', '/users/me/sessions')).body.data;
      expect([old.created, old.last_used, old.current]).to.deep.equal([null, null, false]);
      expect((await refresh(tokens.refresh_token)).status).to.equal(200);
      const [renewed] = (await person.ask('GET', '/users/me/sessions')).body.data;
      expect(renewed.created).to.equal(null);
      expect(Date.parse(renewed.last_used)).to.be.greaterThan(0);
    });

    it('answers pages by limit and offset, and rejects other values with INVALID_QUERY', async () => {
      for (const agent of ['one', 'two', 'three']) await signIn(agent);
      const agents = async (query: string) =>
        (await person.ask('GET', `/users/me/sessions?${query}`)).body.data.map(
          ({ user_agent }: { user_agent: string }) => user_agent,
        );
      expect(await agents('limit=2')).to.deep.equal(['three', 'two']);
      expect(await agents('limit=2&offset=2')).to.deep.equal(['one']);
      for (const query of ['limit=0', 'limit=1001', 'limit=x', 'limit=-1', 'offset=-1', 'offset=1.5', 'limit[]=1'])
        expect(statusAndCodeOf(await person.ask('GET', `/users/me/sessions?${query}`)), query).to.deep.equal([
          400,
          'INVALID_QUERY',
        ]);
    });

    it('needs a user', async () => {
      const anonymous = createUserSender(service, null);
      for (const [method, path] of [
        ['GET', '/users/me/sessions'],
        ['DELETE', '/users/me/sessions'],
        ['DELETE', `/users/me/sessions/${UNKNOWN}`],
      ] as const)
        expect(statusAndCodeOf(await anonymous(method, path)), path).to.deep.equal(WRONG);
    });
  });

  describe('DELETE /users/me/sessions/<id>', () => {
    it('ends that session, whose access token stays valid', async () => {
      const [kept, ended] = [await signIn(), await signIn()];
      const reply = await as(kept)('DELETE', `/users/me/sessions/${idOf(ended)}`);
      expect([reply.status, reply.body]).to.deep.equal([204, undefined]);
      expect(statusAndCodeOf(await refresh(ended.refresh_token))).to.deep.equal(WRONG);
      expect((await as(ended)('GET', '/users/me')).status).to.equal(200);
      expect((await refresh(kept.refresh_token)).status).to.equal(200);
    });

    it('rejects unknown and malformed ids, and sessions of other users, with FORBIDDEN', async () => {
      const other = await signIn('other', await createTestUserAccount(service, person.role));
      for (const id of [UNKNOWN, 'x', idOf(other)])
        expect(statusAndCodeOf(await person.ask('DELETE', `/users/me/sessions/${id}`)), id).to.deep.equal(FORBIDDEN);
      expect((await refresh(other.refresh_token)).status).to.equal(200);
    });

    it('leaves no session behind where the session is refreshed at the same time', async function () {
      this.timeout(120_000);
      for (let round = 0; round < 12; round++) {
        const tokens = await signIn();
        const [ended] = await Promise.all([
          person.ask('DELETE', `/users/me/sessions/${idOf(tokens)}`),
          refresh(tokens.refresh_token),
        ]);
        expect(ended.status).to.equal(204);
        expect((await person.ask('GET', '/users/me/sessions')).body.data).to.deep.equal([]);
      }
    });
  });

  describe('DELETE /users/me/sessions', () => {
    it('ends all sessions but that of the access token', async () => {
      const [kept, one, two] = [await signIn(), await signIn(), await signIn()];
      expect((await as(kept)('DELETE', '/users/me/sessions')).status).to.equal(204);
      for (const { refresh_token } of [one, two])
        expect(statusAndCodeOf(await refresh(refresh_token))).to.deep.equal(WRONG);
      expect((await refresh(kept.refresh_token)).status).to.equal(200);
    });

    it('ends all of them by a static token', async () => {
      const tokens = await signIn();
      expect((await person.ask('DELETE', '/users/me/sessions')).status).to.equal(204);
      expect(statusAndCodeOf(await refresh(tokens.refresh_token))).to.deep.equal(WRONG);
    });
  });

  describe('/users/<id>/sessions', () => {
    it('lists and ends the sessions of a user for admins', async () => {
      const [one, two, three] = [await signIn('one'), await signIn('two'), await signIn('three')];
      const path = `/users/${person.id}/sessions`;
      const { data } = (await admin('GET', path)).body;
      expect(data.map((session: { id: string }) => session.id)).to.deep.equal([three, two, one].map(idOf));
      expect(data.map(({ current }: { current: boolean }) => current)).to.deep.equal([false, false, false]);
      expect((await admin('DELETE', `${path}/${idOf(one)}`)).status).to.equal(204);
      expect(statusAndCodeOf(await refresh(one.refresh_token))).to.deep.equal(WRONG);
      expect(statusAndCodeOf(await admin('DELETE', `${path}/${idOf(one)}`))).to.deep.equal(FORBIDDEN);
      expect((await admin('DELETE', path)).status).to.equal(204);
      expect((await admin('GET', path)).body.data).to.deep.equal([]);
      expect((await admin('GET', '/users/x/sessions')).body.data).to.deep.equal([]);
    });

    it('is refused to all other callers, also for the own user and with permissions on users', async () => {
      const role = await makeRole(
        service,
        {},
        ['read', 'update', 'delete'].map((action) => ({ collection: 'platform_users', action })),
      );
      const manager = await createTestUserAccount(service, role);
      const tokens = await signIn();
      for (const ask of [manager.ask, person.ask, createUserSender(service, null)])
        for (const [method, path] of [
          ['GET', `/users/${person.id}/sessions`],
          ['DELETE', `/users/${person.id}/sessions`],
          ['DELETE', `/users/${person.id}/sessions/${idOf(tokens)}`],
        ] as const)
          expect(statusAndCodeOf(await ask(method, path)), `${method} ${path}`).to.deep.equal(FORBIDDEN);
      expect((await refresh(tokens.refresh_token)).status).to.equal(200);
    });

    it('records in the activity who ended sessions of a user, and nothing where there was none', async () => {
      const tokens = await signIn();
      await as(tokens)('DELETE', `/users/me/sessions/${idOf(tokens)}`);
      await signIn();
      await admin('DELETE', `/users/${person.id}/sessions`);
      await admin('DELETE', `/users/${person.id}/sessions`);
      const query = `filter[action]=logout&filter[item]=${person.id}&fields=user,collection&sort=id`;
      const rows = (await admin('GET', `/activity?${query}`)).body.data;
      const [first] = (await admin('GET', `/users?filter[email]=${service.admin.email}&fields=id`)).body.data;
      expect(rows).to.deep.equal([person.id, first.id].map((user) => ({ user, collection: 'platform_users' })));
    });
  });
});

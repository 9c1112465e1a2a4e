import { expect } from 'chai';
import { errorCodeOf, statusAndCodeOf } from '../plugins/users/test-users.ts';
import type { FreshDatabase } from '../support/database.ts';
import {
  createMigratedDatabase,
  FIRST_ADMIN_CREDENTIALS,
  type SpawnedService,
  spawnService,
} from '../support/service.ts';
import { requestAsAdmin } from './test-users.ts';

const WRONG = [401, 'INVALID_CREDENTIALS'];
const PASSWORD = 'a good password';

interface Tokens {
  readonly access_token: string;
  readonly refresh_token: string;
}

const login = (service: SpawnedService, email: string, password = PASSWORD) =>
  service.request('POST', '/auth/login', { body: { email, password } });
const refresh = (service: SpawnedService, token: string) =>
  service.request('POST', '/auth/refresh', { body: { refresh_token: token } });
const me = async (service: SpawnedService, token: string) =>
  statusAndCodeOf(await service.request('GET', '/users/me', { token }));

describe('two processes on one database', function () {
  this.timeout(240_000);
  let database: FreshDatabase;

  describe('that share sessions', () => {
    let one: SpawnedService;
    let two: SpawnedService;
    let email: string;
    let id: string;
    let count = 0;
    before(async () => {
      database = await createMigratedDatabase('auth_two');
      [one, two] = await Promise.all([spawnService({ database }), spawnService({ database })]);
    });
    beforeEach(async () => {
      email = `person${++count}@example.com`;
      id = (await requestAsAdmin(one, 'POST', '/users', { email, password: PASSWORD })).id;
    });
    after(async () => {
      await Promise.all([one?.stop(), two?.stop()]);
      await database?.drop();
    });
    const tokensOf = async (service: SpawnedService): Promise<Tokens> => (await login(service, email)).body.data;

    it('let one of fifty simultaneous refreshes of one token win', async () => {
      for (let round = 0; round < 3; round++) {
        const { refresh_token } = await tokensOf(one);
        const replies = await Promise.all(
          Array.from({ length: 50 }, (_, at) => refresh(at % 2 ? one : two, refresh_token)),
        );
        const winners = replies.filter(({ status }) => status === 200);
        expect(winners).to.have.length(1);
        expect(replies.filter((reply) => errorCodeOf(reply) === 'INVALID_CREDENTIALS')).to.have.length(49);
        expect((await refresh(two, winners[0]?.body.data.refresh_token)).status).to.equal(200);
      }
      expect(await database.query('select 1 from platform_sessions where "user" = $1', [id])).to.have.length(3);
    });

    it('both refuse the refresh token of a session that one of them ended by logout', async () => {
      const { refresh_token } = await tokensOf(one);
      expect((await one.request('POST', '/auth/logout', { body: { refresh_token } })).status).to.equal(204);
      for (const service of [two, one])
        expect(statusAndCodeOf(await refresh(service, refresh_token))).to.deep.equal(WRONG);
    });

    it('both show the sessions that either opened, and both refuse one that the other ended', async () => {
      const [first, second] = [await tokensOf(one), await tokensOf(two)];
      const list = (await two.request('GET', '/users/me/sessions', { token: first.access_token })).body.data;
      expect(list.map(({ current }: { current: boolean }) => current)).to.deep.equal([false, true]);
      const path = `/users/me/sessions/${list[0].id}`;
      expect((await one.request('DELETE', path, { token: first.access_token })).status).to.equal(204);
      expect(statusAndCodeOf(await refresh(two, second.refresh_token))).to.deep.equal(WRONG);
    });

    it('count failed sign-ins together, and a success in one clears the count of both', async () => {
      await requestAsAdmin(one, 'PATCH', '/settings', { auth_login_attempts: 4 });
      const wrong = async (service: SpawnedService) => statusAndCodeOf(await login(service, email, 'wrong'));
      for (const service of [one, two, one]) expect(await wrong(service)).to.deep.equal(WRONG);
      expect((await login(two, email)).status).to.equal(200);
      for (const service of [two, one, two, one]) expect(await wrong(service)).to.deep.equal(WRONG);
      expect(await database.query('select status from platform_users where id = $1', [id])).to.deep.equal([
        { status: 'suspended' },
      ]);
      for (const service of [one, two])
        expect(statusAndCodeOf(await login(service, email))).to.deep.equal([401, 'USER_SUSPENDED']);
    });
  });

  describe('whose SECRET is changed with SECRET_PREVIOUS', () => {
    const [OLD, NEW] = ['an old secret that is long enough for all', 'a new secret, long enough, and with commas'];
    const running: SpawnedService[] = [];
    const start = async (env: Record<string, string>): Promise<SpawnedService> => {
      const service = await spawnService({ database, env });
      running.push(service);
      return service;
    };
    before(async () => {
      database = await createMigratedDatabase('auth_secret');
    });
    after(async () => {
      await Promise.all(running.map((service) => service.stop()));
      await database?.drop();
    });

    it('accept the tokens of before and after, over restarts, until SECRET_PREVIOUS is removed', async () => {
      const { email, password } = FIRST_ADMIN_CREDENTIALS;
      const before = await start({ SECRET: OLD });
      const old: Tokens = (await login(before, email, password)).body.data;

      const changed = await start({ SECRET: NEW, SECRET_PREVIOUS: OLD });
      const fresh: Tokens = (await login(changed, email, password)).body.data;
      expect(await me(changed, old.access_token), 'old token, changed process').to.deep.equal([200, undefined]);
      expect(await me(before, fresh.access_token), 'new token, unchanged process').to.deep.equal([
        403,
        'INVALID_TOKEN',
      ]);

      expect(await before.kill()).to.equal(0);
      const restarted = await start({ SECRET: NEW, SECRET_PREVIOUS: `${OLD}, one that was never used` });
      for (const token of [old.access_token, fresh.access_token])
        expect(await me(restarted, token), 'both tokens, restarted process').to.deep.equal([200, undefined]);

      const final = await start({ SECRET: 'a third secret that is long enough', SECRET_PREVIOUS: NEW });
      expect(await me(final, fresh.access_token)).to.deep.equal([200, undefined]);
      expect(await me(final, old.access_token)).to.deep.equal([403, 'INVALID_TOKEN']);
      const renewed = await refresh(final, old.refresh_token);
      expect(renewed.status, 'sessions do not depend on the secret').to.equal(200);
      expect(await me(final, renewed.body.data.access_token)).to.deep.equal([200, undefined]);
    });
  });

  describe('without SECRET, started at the same time', () => {
    it('agree on one, and keep it over a restart', async () => {
      database = await createMigratedDatabase('auth_no_secret');
      let services: SpawnedService[] = [];
      try {
        const starting = Array.from({ length: 2 }, () => spawnService({ database, env: { SECRET: '' } }));
        services = await Promise.all(starting);
        const [one, two] = services as [SpawnedService, SpawnedService];
        expect(await me(two, one.admin.token)).to.deep.equal([200, undefined]);
        expect(await me(one, two.admin.token)).to.deep.equal([200, undefined]);
        await one.kill();
        const again = await spawnService({ database, env: { SECRET: '' } });
        services.push(again);
        expect(await me(again, two.admin.token)).to.deep.equal([200, undefined]);
      } finally {
        await Promise.all(services.map((service) => service.stop()));
        await database.drop();
      }
    });
  });
});

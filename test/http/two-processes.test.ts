import { expect } from 'chai';
import { BUS_CONFIRMATION_TIMEOUT } from '../../plugins/cluster/contract.ts';
import { type FreshDatabase, freshDatabase, runSqlFile } from '../support/database.ts';
import { type SpawnedService, spawnService } from '../support/service.ts';
import { until } from '../support/until.ts';
import { createUserWithPermissions } from './test-users.ts';

const BACH =
  '/items/track?fields=name,album_id.title,album_id.artist_id.name&filter[composer][_contains]=Bach&sort=-milliseconds&limit=3';

describe('two processes on one database', () => {
  let database: FreshDatabase;
  let services: SpawnedService[] = [];
  before(async function () {
    this.timeout(120_000);
    database = await freshDatabase('two');
    await runSqlFile(database.url, new URL('../data/chinook.sql', import.meta.url));
    // Both processes start at the same moment on a database without tables of the service.
    const env = { LOG_LEVEL: 'warn' };
    services = await Promise.all([spawnService({ database, env }), spawnService({ database, env })]);
  });
  after(async () => {
    await Promise.all(services.map((one) => one.stop()));
    await database?.drop();
  });

  it('give equal answers to an admin, a restricted role and Public', async () => {
    const [one, two] = services as [SpawnedService, SpawnedService];
    const person = await createUserWithPermissions(one, [
      {
        collection: 'track',
        action: 'read',
        fields: ['name', 'composer', 'milliseconds', 'album_id'],
        permissions: { genre_id: { _eq: 24 } },
      },
      { collection: 'album', action: 'read', fields: ['title'] },
    ]);
    for (const token of [one.admin.token, person.token]) {
      const first = await one.request('GET', BACH, { token });
      const second = await two.request('GET', BACH, { token });
      expect(first.status).to.equal(200);
      expect(first.body.data).to.have.length(3);
      expect(second.body).to.deep.equal(first.body);
    }
    for (const service of services) expect((await service.request('GET', BACH)).status).to.equal(403);
  });

  it('create one first admin and one Public role together', async () => {
    expect(
      await database.query('select count(*)::int as n from platform_users where role is not null'),
    ).to.deep.include({ n: 2 });
    expect(
      await database.query(`select count(*)::int as n from platform_roles where name <> 'x' and admin_access`),
    ).to.deep.equal([{ n: 1 }]);
  });

  it('both see collections and permissions that either creates', async () => {
    const [one, two] = services as [SpawnedService, SpawnedService];
    const creation = await one.request('POST', '/collections', {
      token: one.admin.token,
      body: { collection: 'fresh', schema: {}, fields: [{ field: 'word', type: 'string' }] },
    });
    expect(creation.status).to.equal(200);
    expect(
      (await two.request('POST', '/items/fresh', { token: two.admin.token, body: { word: 'a' } })).status,
    ).to.equal(200);
    const person = await createUserWithPermissions(two, [{ collection: 'fresh', action: 'read' }]);
    await until(async () => (await one.request('GET', '/items/fresh', { token: person.token })).status === 200);
    const [permission] = await database.query<{ id: number }>('select id from platform_permissions where role = $1', [
      person.role,
    ]);
    await two.request('DELETE', `/permissions/${permission?.id}`, { token: two.admin.token });
    expect((await one.request('GET', '/items/fresh', { token: person.token })).status).to.equal(403);
  });

  describe('after one process has revoked access', () => {
    const MANY = 3;
    let one: SpawnedService;
    let two: SpawnedService;
    let isBusy = true;
    let busy: Promise<void>[] = [];
    before(async () => {
      [one, two] = services as [SpawnedService, SpawnedService];
      await database.query('create table diary (id serial primary key, word text, secret text)');
      await database.query("insert into diary (word, secret) values ('a', 'b')");
      for (const service of services)
        await until(async () => (await asAdminOf(service, 'GET', '/items/diary')).status === 200);
      // Constant reads keep the second process busy, so that it handles messages of the first one late.
      busy = Array.from({ length: 2 }, async () => {
        while (isBusy) await asAdminOf(two, 'GET', '/items/track?limit=200');
      });
    });
    after(async () => {
      isBusy = false;
      await Promise.all(busy);
    });

    const asAdminOf = (service: SpawnedService, method: string, path: string, body?: unknown) =>
      service.request(method, path, { token: service.admin.token, body });

    async function done(method: string, path: string, body?: unknown) {
      const reply = await asAdminOf(one, method, path, body);
      expect(reply.status, `${method} ${path} ${JSON.stringify(reply.body)}`).to.be.oneOf([200, 204]);
      return reply.body?.data;
    }

    /** The statuses of several reads at both processes, all of which begin after this call. */
    async function reads(token: string, path = '/items/diary'): Promise<ReadonlySet<number>> {
      const replies = [one, two].flatMap((service) =>
        Array.from({ length: MANY }, () => service.request('GET', path, { token })),
      );
      return new Set((await Promise.all(replies)).map(({ status }) => status));
    }

    const remembered = (token: string, path?: string) =>
      until(async () => {
        const statuses = await reads(token, path);
        return statuses.size === 1 && statuses.has(200);
      });

    const readable = { collection: 'diary', action: 'read', fields: ['*'] };

    it('no read anywhere uses a permission that was deleted or narrowed, 20 times over', async () => {
      const person = await createUserWithPermissions(one, []);
      const seen: unknown[] = [];
      for (let round = 0; round < 20; round++) {
        const { id } = await done('POST', '/permissions', { ...readable, role: person.role });
        await remembered(person.token);
        if (round % 2 === 0) await done('DELETE', `/permissions/${id}`);
        else await done('PATCH', `/permissions/${id}`, { action: 'delete' });
        seen.push([...(await reads(person.token))]);
        if (round % 2 === 1) await done('DELETE', `/permissions/${id}`);
      }
      expect(seen).to.deep.equal(seen.map(() => [403]));
    });

    it('no read anywhere comes from a user who was suspended or deleted', async () => {
      const seen: unknown[] = [];
      for (let round = 0; round < 6; round++) {
        const person = await createUserWithPermissions(one, [readable as never]);
        const account = { email: `leaving${round}@example.com`, password: 'once upon a time' };
        await done('PATCH', `/users/${person.id}`, account);
        const login = await one.request('POST', '/auth/login', { body: account });
        const token = login.body.data.access_token;
        await remembered(token);
        if (round % 2 === 0) await done('PATCH', `/users/${person.id}`, { status: 'suspended' });
        else await done('DELETE', `/users/${person.id}`);
        seen.push([...(await reads(token))]);
      }
      expect(seen).to.deep.equal(seen.map(() => [401]));
    });

    it('no read anywhere uses a role that was narrowed to addresses or deleted', async () => {
      const seen: unknown[] = [];
      for (let round = 0; round < 6; round++) {
        const person = await createUserWithPermissions(one, [readable as never]);
        await remembered(person.token);
        if (round % 2 === 0) await done('PATCH', `/roles/${person.role}`, { ip_access: ['192.0.2.1'] });
        else await done('DELETE', `/roles/${person.role}`);
        seen.push([...(await reads(person.token))]);
      }
      expect(seen).to.deep.equal(seen.map(() => [401]));
    });

    it('no read anywhere shows a field that was deleted or concealed, by REST or GraphQL', async () => {
      const seen: unknown[] = [];
      for (let round = 0; round < 6; round++) {
        const field = `extra_${round}`;
        await done('POST', '/fields/diary', { field, type: 'string' });
        await done('PATCH', '/items/diary/1', { [field]: 'clear' });
        await until(async () => JSON.stringify((await asAdminOf(two, 'GET', '/items/diary')).body).includes('clear'));
        const document = { query: `{ diary { ${field} } }` };
        expect((await asAdminOf(two, 'POST', '/graphql', document)).body.data.diary[0][field]).to.equal('clear');
        if (round % 2 === 0) await done('DELETE', `/fields/diary/${field}`);
        else await done('PATCH', `/fields/diary/${field}`, { meta: { special: ['conceal'] } });
        const [rest, graphql] = await Promise.all([
          asAdminOf(two, 'GET', '/items/diary'),
          asAdminOf(two, 'POST', '/graphql', document),
        ]);
        seen.push([JSON.stringify(rest.body).includes('clear'), JSON.stringify(graphql.body).includes('clear')]);
      }
      expect(seen).to.deep.equal(seen.map(() => [false, false]));
    });

    it('a change waits a limited time for a process that hangs, and not at all for one that died', async () => {
      const person = await createUserWithPermissions(one, [readable as never]);
      const [first] = (await done('GET', `/permissions?filter[role]=${person.role}&fields=id`)) as [{ id: number }];
      process.kill(two.pid, 'SIGSTOP');
      try {
        const begun = performance.now();
        // This change must be answered although the second process is stopped and cannot confirm it.
        await done('PATCH', `/permissions/${first.id}`, { fields: ['word'] });
        expect(performance.now() - begun).to.be.above(BUS_CONFIRMATION_TIMEOUT * 0.9);
        await until(async () => unconfirmed() === 1);
      } finally {
        process.kill(two.pid, 'SIGCONT');
      }
      isBusy = false;
      await Promise.allSettled(busy);
      busy = [];
      await two.kill('SIGKILL');
      await until(async () => (await alive()) === 1);
      await done('DELETE', `/permissions/${first.id}`);
      expect(unconfirmed()).to.equal(1);
      expect((await one.request('GET', '/items/diary', { token: person.token })).status).to.equal(403);
    });

    /** The number of changes that the first process answered without the confirmation of all other processes. */
    const unconfirmed = () => one.output().split('did not confirm').length - 1;

    /** The number of live processes, by the advisory locks of their presence. */
    const alive = async () =>
      (
        await database.query(`select distinct pid from pg_locks where locktype = 'advisory' and classid = 1952804466
        and database = (select oid from pg_database where datname = current_database())`)
      ).length;
  });
});

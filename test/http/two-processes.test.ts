import { expect } from 'chai';
import { type FreshDatabase, freshDatabase, loadSql } from '../support/database.ts';
import { type Spawned, spawnService } from '../support/service.ts';
import { personWith } from './people.ts';

const BACH =
  '/items/track?fields=name,album_id.title,album_id.artist_id.name&filter[composer][_contains]=Bach&sort=-milliseconds&limit=3';

describe('two processes on one database', () => {
  let database: FreshDatabase;
  let services: Spawned[] = [];
  before(async function () {
    this.timeout(120_000);
    database = await freshDatabase('two');
    await loadSql(database.url, new URL('../data/chinook.sql', import.meta.url));
    // At the same moment: both find no tables of the service, and both want to make them.
    services = await Promise.all([spawnService({ database }), spawnService({ database })]);
  });
  after(async () => {
    await Promise.all(services.map((one) => one.stop()));
    await database?.drop();
  });

  it('answer alike as admin, as a restricted role and as Public', async () => {
    const [one, two] = services as [Spawned, Spawned];
    const person = await personWith(one, [
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

  it('make one first admin and one Public role between them', async () => {
    expect(
      await database.query('select count(*)::int as n from platform_users where role is not null'),
    ).to.deep.include({ n: 2 });
    expect(
      await database.query(`select count(*)::int as n from platform_roles where name <> 'x' and admin_access`),
    ).to.deep.equal([{ n: 1 }]);
  });

  it('see each other’s collections and permissions', async () => {
    const [one, two] = services as [Spawned, Spawned];
    const made = await one.request('POST', '/collections', {
      token: one.admin.token,
      body: { collection: 'fresh', schema: {}, fields: [{ field: 'word', type: 'string' }] },
    });
    expect(made.status).to.equal(200);
    expect(
      (await two.request('POST', '/items/fresh', { token: two.admin.token, body: { word: 'a' } })).status,
    ).to.equal(200);
    const person = await personWith(two, [{ collection: 'fresh', action: 'read' }]);
    await until(async () => (await one.request('GET', '/items/fresh', { token: person.token })).status === 200);
    const [permission] = await database.query<{ id: number }>('select id from platform_permissions where role = $1', [
      person.role,
    ]);
    await two.request('DELETE', `/permissions/${permission?.id}`, { token: two.admin.token });
    await until(async () => (await one.request('GET', '/items/fresh', { token: person.token })).status === 403);
  });
});

async function until(holds: () => Promise<boolean>): Promise<void> {
  for (const end = Date.now() + 30_000; Date.now() < end; ) if (await holds()) return;
  throw new Error('it did not become so in time');
}

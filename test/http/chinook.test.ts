import { expect } from 'chai';
import { recordStatementsDuring } from '../support/capture-sql-statements.ts';
import { type FreshDatabase, freshDatabase, runSqlFile } from '../support/database.ts';
import { type InProcessService, startService } from '../support/service.ts';
import { createUserWithPermissions, type TestUserWithToken } from './test-users.ts';

const BACH =
  '/items/track?fields=name,album_id.title,album_id.artist_id.name&filter[composer][_contains]=Bach&sort=-milliseconds&limit=3';

describe('the items API on the Chinook database', () => {
  let database: FreshDatabase;
  let service: InProcessService;
  let listener: TestUserWithToken;
  before(async () => {
    database = await freshDatabase('chinook');
    await runSqlFile(database.url, new URL('../data/chinook.sql', import.meta.url));
    service = await startService({ database });
    listener = await createUserWithPermissions(service, [
      { collection: 'track', action: 'read', permissions: { genre_id: { name: { _eq: 'Jazz' } } } },
      { collection: 'album', action: 'read', fields: ['album_id', 'title'] },
    ]);
  });
  after(async () => {
    await service?.stop();
    await database?.drop();
  });

  const expected = (limit: number) =>
    database.query<{ name: string; title: string; artist: string }>(
      `select t.name, a.title, r.name as artist from track t join album a using (album_id) join artist r using (artist_id)
       where t.composer like '%Bach%' order by t.milliseconds desc, t.track_id limit $1`,
      [limit],
    );

  it('an admin reads nested, filtered and sorted items', async () => {
    const { status, body } = await service.request('GET', BACH, { token: service.admin.token });
    expect(status).to.equal(200);
    const rows = await expected(3);
    expect(rows).to.have.length(3);
    expect(body).to.deep.equal({
      data: rows.map((row) => ({ name: row.name, album_id: { title: row.title, artist_id: { name: row.artist } } })),
    });
  });

  it('a read without a token is rejected', async () => {
    const { status, body } = await service.request('GET', BACH);
    expect(status).to.equal(403);
    expect(body.errors[0].extensions.code).to.equal('FORBIDDEN');
  });

  it('a read leaves out rows and fields that the role may not read', async () => {
    const path = '/items/track?fields=track_id,album_id.title,album_id.artist_id.name&limit=-1&meta=*';
    const { status, body } = await service.request('GET', path, { token: listener.token });
    expect(status).to.equal(200);
    const jazz = await database.query<{ id: number; title: string }>(
      `select track_id as id, title from track join genre g using (genre_id) left join album using (album_id)
       where g.name = 'Jazz' order by track_id`,
    );
    expect(body.data).to.deep.equal(jazz.map((row) => ({ track_id: row.id, album_id: { title: row.title } })));
    expect(body.meta).to.deep.equal({ total_count: jazz.length, filter_count: jazz.length });
  });

  it('a row outside the rule gets the answer of a row that does not exist', async () => {
    for (const id of ['1', '99999999', 'abc']) {
      const { status, body } = await service.request('GET', `/items/track/${id}`, { token: listener.token });
      expect(status, id).to.equal(403);
      expect(body.errors[0].message).to.equal("You don't have permission to access this.");
    }
  });

  for (const query of [
    'filter[album_id][artist_id][name][_eq]=x',
    'filter[album_id][artist_id][_eq]=1',
    'sort=album_id.artist_id',
    'filter[unknown][_eq]=1',
    'sort=unknown',
    'filter[genre_id][name][_eq]=Jazz',
  ]) {
    it(`${query} is rejected for a role that may not read its fields`, async () => {
      const { status, body } = await service.request('GET', `/items/track?${query}`, { token: listener.token });
      expect([status, body.errors?.[0].extensions.code]).to.deep.equal([403, 'FORBIDDEN']);
    });
  }

  it('an error for an unreadable field does not show its type', async () => {
    const reader = await createUserWithPermissions(service, [
      { collection: 'track', action: 'read', fields: ['track_id'] },
      { collection: 'track', action: 'update', fields: ['name'] },
    ]);
    for (const [path, token] of [
      ['/items/track?filter[milliseconds][_contains]=a', reader.token],
      ['/items/track?filter[milliseconds][_gt]=a', reader.token],
      ['/items/track?filter[album_id][title][_lt]=a', reader.token],
      ['/items/track?sort=name.title', reader.token],
      ['/items/track?filter[milliseconds][_contains]=a', null],
      ['/items/unknown?filter[a][_nonsense]=a', null],
    ] as const) {
      const { status, body } = await service.request('GET', path, { token });
      expect([status, body.errors?.[0].extensions.code], path).to.deep.equal([403, 'FORBIDDEN']);
    }
    const query = { filter: { milliseconds: { _contains: 'a' } } };
    const write = await service.request('PATCH', '/items/track', {
      token: reader.token,
      body: { query, data: { name: 'x' } },
    });
    expect(write.status).to.equal(403);
  });

  it('a search covers only fields that the role may read', async () => {
    const reader = await createUserWithPermissions(service, [
      { collection: 'artist', action: 'read', fields: ['artist_id'] },
    ]);
    const { body } = await service.request('GET', '/items/artist?search=AC/DC', { token: reader.token });
    expect(body.data).to.deep.equal([]);
  });

  it('a nested read runs one statement', async () => {
    for (const path of [
      BACH,
      '/items/track/63?fields=*.*',
      '/items/track?fields=*.*.*&meta=*&search=a&sort=album_id.title',
    ]) {
      const runs: (readonly string[])[] = [];
      for (let run = 0; run < 3; run++) {
        runs.push(await recordStatementsDuring(() => service.request('GET', path, { token: service.admin.token })));
      }
      // A notification may empty a cache (such as the status of the user), which is then read again. The read itself is one
      // statement every time.
      for (const texts of runs) expect(texts.filter((text) => text.includes('"track"'))).to.have.length(1);
      expect(Math.min(...runs.map((texts) => texts.length))).to.equal(1);
    }
  });

  it('the same query as brackets, as JSON text and as a SEARCH body has the same answer', async () => {
    const query = {
      fields: ['name', 'album_id.title'],
      filter: { composer: { _contains: 'Bach' } },
      sort: ['-milliseconds'],
      limit: 2,
    };
    const token = service.admin.token;
    const search = await service.request('SEARCH', '/items/track', { token, body: { query } });
    const text = new URLSearchParams({
      fields: 'name,album_id.title',
      filter: JSON.stringify(query.filter),
      sort: '-milliseconds',
      limit: '2',
    });
    const json = await service.request('GET', `/items/track?${text}`, { token });
    const brackets = await service.request(
      'GET',
      '/items/track?fields[]=name&fields[]=album_id.title&filter[composer][_contains]=Bach&sort[]=-milliseconds&limit=2',
      { token },
    );
    expect(search.status).to.equal(200);
    expect(search.body.data).to.have.length(2);
    expect(json.body).to.deep.equal(search.body);
    expect(brackets.body).to.deep.equal(search.body);
  });

  it('SEARCH by keys answers in the order of the keys', async () => {
    const { body } = await service.request('SEARCH', '/items/artist?fields=artist_id', {
      token: service.admin.token,
      body: { keys: [3, 1, 2] },
    });
    expect(body.data.map((row: { artist_id: number }) => row.artist_id)).to.deep.equal([3, 1, 2]);
  });

  it('a table with a composite key is served', async () => {
    const token = service.admin.token;
    const listed = await service.request('GET', '/collections/playlist_track', { token });
    expect(listed.status).to.equal(200);
    const { status, body } = await service.request('GET', '/items/playlist_track?limit=1', { token });
    expect(status).to.equal(200);
    const [{ playlist_id, track_id }] = body.data;
    const one = await service.request('GET', `/items/playlist_track/${playlist_id},${track_id}`, { token });
    expect(one.body.data).to.deep.equal({ playlist_id, track_id });
  });

  it('the next request sees changes that another program makes to the database', async () => {
    const token = service.admin.token;
    await database.query('create table brand_new (id serial primary key, word text)');
    await database.query(`insert into brand_new (word) values ('hello')`);
    expect((await service.request('GET', '/items/brand_new', { token })).body.data).to.deep.equal([
      { id: 1, word: 'hello' },
    ]);
    await database.query('alter table brand_new add column more int default 7');
    const filtered = await service.request('GET', '/items/brand_new?filter[more][_eq]=7&fields=id', { token });
    expect(filtered.body.data).to.deep.equal([{ id: 1 }]);
    await database.query('alter table brand_new drop column word');
    const dropped = await service.request('GET', '/items/brand_new', { token });
    expect(dropped.body.data).to.deep.equal([{ id: 1, more: 7 }]);
    await database.query('drop table brand_new');
    expect((await service.request('GET', '/items/brand_new', { token })).status).to.equal(404);
  });
});

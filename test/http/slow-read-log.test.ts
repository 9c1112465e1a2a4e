import { expect } from 'chai';
import type { FreshDatabase } from '../support/database.ts';
import { createMigratedDatabase, type InProcessService, startService } from '../support/service.ts';

describe('the log of slow reads', () => {
  let database: FreshDatabase;
  let service: InProcessService;
  before(async () => {
    database = await createMigratedDatabase('slowlog');
    await database.query('create table author (id serial primary key, name text)');
    await database.query(
      'create table article (id serial primary key, title text, author int references author, n int)',
    );
    await database.query(`insert into author (name) values ('Ann')`);
    await database.query(
      `insert into article (title, author, n) select 'secret ' || n, 1, n from generate_series(1, 3) n`,
    );
    await database.query(`create function slowly(what text) returns text language plpgsql volatile as
      $$ begin perform pg_sleep(0.4); return what; end $$`);
    await database.query('create view drowsy as select id, slowly(title) as title, n from article');
    await database.query('create view stuck as select id from article where pg_sleep(60) is not null');
    service = await startService({
      database,
      env: { LOG_LEVEL: 'warn', QUERY_SLOW_MS: '1000', DB_STATEMENT_TIMEOUT: '2s' },
    });
  });
  after(async () => {
    await service?.stop();
    await database?.drop();
  });

  const ask = (path: string) =>
    service.request('GET', path, { token: service.admin.token, headers: { 'x-request-id': 'asked-by-me' } });
  const lines = () => service.log.filter(({ msg }) => msg === 'a slow read');

  it('has an entry with the shape of the query and its caller, without values', async () => {
    const path = '/items/drowsy?fields=id,title&sort=-n&filter[title][_contains]=secret&filter[n][_in]=1,2,3&limit=7';
    const { body } = await ask(path);
    expect(body.data).to.have.length(3);
    const [line] = lines();
    expect(line).to.include({ level: 40, owner: '@tenon/query', plugin: null, request: 'asked-by-me' });
    expect(line?.shape).to.equal('drowsy[id,title] where title._contains and n._in sort -n limit 7');
    expect(line?.ms).to.be.within(1150, 30_000);
    const [{ id } = {}] = await database.query<{ id: string }>('select id from platform_users');
    expect(line?.user).to.equal(id);
    expect(JSON.stringify(line)).not.to.contain('secret');
  });

  it('has an entry for a read that is streamed, and for one that fails', async () => {
    const before = lines().length;
    await ask('/items/drowsy?limit=-1&fields=id,title');
    expect(lines().at(-1)?.shape).to.equal('drowsy[id,title]');
    for (const limit of [5, -1]) {
      expect((await ask(`/items/stuck?fields=id&limit=${limit}`)).status).to.equal(503);
      expect(lines().at(-1)?.shape).to.match(/^stuck\[id\]/);
    }
    expect(lines()).to.have.length(before + 3);
  });

  it('has no entry for fast reads', async () => {
    const before = lines().length;
    await ask('/items/article?fields=*,author.name');
    expect(lines()).to.have.length(before);
  });
});

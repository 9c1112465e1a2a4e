import { expect } from 'chai';
import type { FreshDatabase } from '../support/database.ts';
import { createMigratedDatabase, type InProcessService, startService } from '../support/service.ts';

describe('GET and SEARCH /explain', () => {
  let database: FreshDatabase;
  let service: InProcessService;
  before(async () => {
    database = await createMigratedDatabase('explain');
    await database.query('create table author (id serial primary key, name text)');
    await database.query(
      'create table article (id serial primary key, title text, price numeric(10,2), at timestamptz, author int references author, editor int references author)',
    );
    await database.query('create index on article (editor)');
    await database.query(`insert into author (name) values ('Ann')`);
    service = await startService({ database, env: { LOG_LEVEL: 'warn' } });
  });
  after(async () => {
    await service?.stop();
    await database?.drop();
  });

  const explain = (path: string, method = 'GET', body?: unknown) =>
    service.request(method, path, { token: service.admin.token, body });

  it('GET /explain/<collection> shows the statement and the plan of a list read without any value of the query', async () => {
    const filter = 'filter[title][_eq]=hidden-title&filter[price][_gt]=123456.5&filter[author][name][_eq]=hidden-name';
    const { status, body } = await explain(`/explain/article?fields=id,author.name&sort=-at&limit=5&${filter}`);
    expect(status, JSON.stringify(body)).to.equal(200);
    const { data } = body;
    expect(data.collection).to.equal('article');
    expect(data.shape).to.equal(
      'article[id,author[name]] where title._eq and price._gt and author.name._eq sort -at limit 5',
    );
    expect(data.statement).to.match(/^select /);
    expect(data.parameters.map(({ value }: { value: string }) => value)).to.deep.equal(['?', '?', '?']);
    expect(data.parameters.map(({ index }: { index: number }) => index)).to.deep.equal([1, 2, 3]);
    for (const { type } of data.parameters) expect(type).to.be.a('string');
    expect(data.plan[0].Plan['Node Type']).to.be.a('string');
    expect(JSON.stringify(data.plan)).to.contain('$1');
    expect(JSON.stringify(body)).not.to.match(/hidden|123456/);
  });

  it('/explain takes the query from a SEARCH body, a key from the path, and the full name of a system collection', async () => {
    const search = await explain('/explain/article', 'SEARCH', { query: { limit: -1, filter: { title: 'hidden' } } });
    expect([search.body.data.form, JSON.stringify(search.body).includes('hidden')]).to.deep.equal(['rows', false]);
    const one = await explain('/explain/article/40711704?fields=title');
    expect(one.body.data.shape).to.equal('article[title] where id._eq');
    expect(JSON.stringify(one.body)).not.to.contain('40711704');
    expect((await explain('/explain/platform_users?limit=1')).body.data.collection).to.equal('platform_users');
  });

  it('GET /explain/<collection> leaves no prepared statement behind on its connection', async () => {
    for (let round = 0; round < 12; round++) expect((await explain('/explain/article')).status).to.equal(200);
    const left = await database.query("select 1 from pg_prepared_statements where name like 'explained%'");
    expect(left).to.have.length(0);
  });

  it('/explain/<collection> refuses an unknown collection, an unknown operator and a query that is no object', async () => {
    expect((await explain('/explain/nothing')).status).to.equal(404);
    expect((await explain('/explain/article?filter[title][_nope]=1')).body.errors[0].extensions.code).to.equal(
      'INVALID_QUERY',
    );
    expect((await explain('/explain/article', 'SEARCH', { query: 5 })).body.errors[0].extensions.code).to.equal(
      'INVALID_PAYLOAD',
    );
  });

  it('/explain answers 403 to callers without admin rights', async () => {
    for (const path of ['/explain', '/explain/article', '/explain/article/1'])
      expect((await service.request('GET', path)).status).to.equal(403);
    expect((await service.request('SEARCH', '/explain/article', { body: {} })).status).to.equal(403);
  });

  it('GET /explain lists foreign keys without an index, and the log names each of them once', async () => {
    const { body } = await explain('/explain');
    const own = (list: { collection: string }[]) =>
      list.filter(({ collection }) => !collection.startsWith('platform_'));
    expect(own(body.data.missing_indexes)).to.deep.equal([
      {
        collection: 'article',
        field: 'author',
        related: 'author',
        statement: 'create index concurrently on "public"."article" ("author")',
      },
    ]);
    const warnings = () => service.log.filter(({ msg }) => msg === 'the foreign key article.author has no index');
    expect(warnings()).to.have.length(1);
    expect(warnings()[0]?.remedy).to.equal(body.data.missing_indexes.at(-1).statement);
    await database.query(
      body.data.missing_indexes.find(({ field }: { field: string }) => field === 'author').statement,
    );
    expect(own((await explain('/explain')).body.data.missing_indexes)).to.deep.equal([]);
    expect(warnings()).to.have.length(1);
  });
});

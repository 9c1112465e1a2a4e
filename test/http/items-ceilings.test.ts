import { expect } from 'chai';
import { type FreshDatabase, freshDatabase } from '../support/database.ts';
import { type InProcess, startService } from '../support/service.ts';
import { asAdmin } from './people.ts';

describe('a ceiling on rows a read may answer', () => {
  let database: FreshDatabase;
  let service: InProcess;
  before(async () => {
    database = await freshDatabase('conf_ceilings');
    await database.query(`
      create table up (id serial primary key, name text);
      create table down (id serial primary key, up int references up);
      insert into up (name) select 'u' from generate_series(1, 12);
      insert into down (up) select 1 from generate_series(1, 12);
    `);
    service = await startService({
      database,
      env: { QUERY_LIMIT_DEFAULT: '7', QUERY_LIMIT_MAX: '5', MAX_RELATIONAL_DEPTH: '3' },
    });
    await asAdmin(service, 'POST', '/fields/up', { field: 'downs', type: 'alias', meta: { special: ['o2m'] } });
    await asAdmin(service, 'PATCH', '/relations/down/up', { meta: { one_field: 'downs' } });
  });
  after(async () => {
    await service?.stop();
    await database?.drop();
  });
  const send = (method: string, path: string, body?: unknown) =>
    service.request(method, path, { token: service.admin.token, body });

  const LENGTHS: readonly [query: string, length: number][] = [
    ['', 5],
    ['limit=-1', 5],
    ['limit=5', 5],
    ['limit=0', 0],
    ['limit=-1&page=2', 5],
  ];
  for (const [query, length] of LENGTHS) {
    it(`${query || 'nothing'} answers ${length} rows`, async () => {
      expect((await send('GET', `/items/up?fields=id&${query}`)).body.data).to.have.length(length);
      const nested = query.replaceAll(/(\w+)=/g, 'deep[downs][_$1]=');
      expect(
        (await send('GET', `/items/up/1?fields=downs&${nested.replace('limit]=-1&deep[downs][_page]=2', 'limit]=-1')}`))
          .body.data.downs,
      ).to.have.length(length);
    });
  }

  it('refuses more, in lists, in lists inside and in SEARCH', async () => {
    for (const [method, path, body] of [
      ['GET', '/items/up?limit=6'],
      ['GET', '/items/up/1?fields=downs&deep[downs][_limit]=6'],
      ['SEARCH', '/items/up', { query: { limit: 6 } }],
      ['SEARCH', '/items/up', { query: { fields: ['downs.id'], deep: { downs: { _limit: 6 } } } }],
      ['GET', '/roles?limit=6'],
      ['POST', '/items/up?fields=downs&deep[downs][_limit]=6', {}],
    ] as const) {
      const reply = await send(method, path, body);
      expect([reply.status, reply.body.errors?.[0].extensions.code], path).to.deep.equal([400, 'INVALID_QUERY']);
    }
    expect(await database.query('select count(*)::int as n from up')).to.deep.equal([{ n: 12 }]);
  });

  it('is none for keys and for what a write means', async () => {
    const keys = Array.from({ length: 12 }, (_, at) => at + 1);
    expect((await send('SEARCH', '/items/up?fields=id', { keys })).body.data).to.have.length(12);
    expect((await send('PATCH', '/items/up?fields=name', { query: {}, data: { name: 'x' } })).body.data).to.have.length(
      12,
    );
    expect(
      (await send('PATCH', '/items/up?fields=name', { query: { limit: 8 }, data: { name: 'y' } })).body.data,
    ).to.have.length(8);
    expect((await send('DELETE', '/items/down', { query: { filter: { up: 1 } } })).status).to.equal(204);
    expect(await database.query('select * from down')).to.deep.equal([]);
  });

  it('bounds the depth of fields, filters, orders and deep', async () => {
    for (const [query, status] of [
      ['fields=downs.up.downs.id', 200],
      ['fields=downs.up.downs.up.id', 400],
      ['fields=*.*.*.*', 200],
      ['fields=*.*.*.*.*', 400],
      ['filter[downs][up][downs][id]=1', 200],
      ['filter[downs][up][downs][up][id]=1', 400],
      ['filter[downs][_some][up][downs][_none][up][id]=1', 400],
      ['sort=downs.up.downs.id', 200],
      ['sort=downs.up.downs.up.id', 400],
    ] as const) {
      expect((await send('GET', `/items/up?${query}`)).status, query).to.equal(status);
    }
  });
});

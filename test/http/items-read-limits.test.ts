import { expect } from 'chai';
import type { FreshDatabase } from '../support/database.ts';
import { createMigratedDatabase, type InProcessService, startService } from '../support/service.ts';
import { requestAsAdmin } from './test-users.ts';

describe('limits of reads: QUERY_LIMIT_MAX and MAX_RELATIONAL_DEPTH', () => {
  let database: FreshDatabase;
  let service: InProcessService;
  before(async () => {
    database = await createMigratedDatabase('conf_ceilings');
    await database.query(`
      create table up (id serial primary key, name text, born date);
      create table down (id serial primary key, up int references up);
      insert into up (name) select 'u' from generate_series(1, 12);
      insert into down (up) select 1 from generate_series(1, 12);
    `);
    service = await startService({
      database,
      env: { QUERY_LIMIT_DEFAULT: '7', QUERY_LIMIT_MAX: '5', MAX_RELATIONAL_DEPTH: '3' },
    });
    await requestAsAdmin(service, 'POST', '/fields/up', { field: 'downs', type: 'alias', meta: { special: ['o2m'] } });
    await requestAsAdmin(service, 'PATCH', '/relations/down/up', { meta: { one_field: 'downs' } });
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
    it(`a read with ${query || 'no query'} answers ${length} rows`, async () => {
      expect((await send('GET', `/items/up?fields=id&${query}`)).body.data).to.have.length(length);
      const nested = query.replaceAll(/(\w+)=/g, 'deep[downs][_$1]=');
      expect(
        (await send('GET', `/items/up/1?fields=downs&${nested.replace('limit]=-1&deep[downs][_page]=2', 'limit]=-1')}`))
          .body.data.downs,
      ).to.have.length(length);
    });
  }

  it('rejects a larger limit in lists, in nested lists and in SEARCH', async () => {
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

  it('does not limit reads by keys, nor the rows that a write selects', async () => {
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

  /** Pairs of queries: with a field path of the allowed depth, and with a path that is one level deeper. */
  const PATHS: readonly [allowed: string, refused: string][] = [
    ['fields=downs.up.id', 'fields=downs.up.downs.id'],
    ['fields=*.*.*', 'fields=*.*.*.*'],
    ['fields=year(downs.up.born)', 'fields=year(downs.up.downs.id)'],
    ['fields=nothing.a.b', 'fields=nothing.a.b.c'],
    ['filter[downs][up][id]=1', 'filter[downs][up][downs][id]=1'],
    ['filter[downs][_some][up][id]=1', 'filter[downs][_some][up][downs][_none][id]=1'],
    [
      'filter={"_and":[{"_or":[{"downs":{"up":{"id":{"_in":[1]}}}}]}]}',
      'filter={"_and":[{"_or":[{"downs":{"up":{"downs":{"id":{"_in":[1]}}}}}]}]}',
    ],
    ['filter[$FOLLOW(down,up)][up][id]=1', 'filter[$FOLLOW(down,up)][up][downs][id]=1'],
    ['sort=downs.up.id', 'sort=-downs.up.downs.id'],
    ['fields=downs.id&deep[downs][up][downs][_limit]=1', 'fields=downs.id&deep[downs][up][downs][up][_limit]=1'],
    ['fields=downs.id&deep[downs][_sort]=up.id', 'fields=downs.id&deep[downs][_sort]=up.downs.id'],
    ['fields=downs.id&deep[downs][_filter][up][id]=1', 'fields=downs.id&deep[downs][_filter][up][downs][id]=1'],
    // `deep` parameters count although `fields` does not request their relations.
    ['fields=id&deep[downs][up][downs][_limit]=1', 'fields=id&deep[downs][up][downs][up][_limit]=1'],
    ['fields=id&deep[downs][_sort]=up.id', 'fields=id&deep[downs][_sort]=up.downs.id'],
    ['fields=id&deep[downs][_filter][up][id]=1', 'fields=id&deep[downs][_filter]={"up":{"downs":{"id":1}}}'],
    ['fields=id&deep[nothing][a][b][_limit]=1', 'fields=id&deep[nothing][a][b][c][_limit]=1'],
  ];
  for (const [allowed, refused] of PATHS) {
    it(`allows ${allowed} and rejects ${refused}, which is deeper than MAX_RELATIONAL_DEPTH`, async () => {
      const fine = await send('GET', `/items/up?${allowed}`);
      expect(fine.body.errors?.[0].extensions.code, JSON.stringify(fine.body)).not.to.equal('INVALID_QUERY');
      const { status, body } = await send('GET', `/items/up?${refused}`);
      expect([status, body.errors?.[0].extensions.code]).to.deep.equal([400, 'INVALID_QUERY']);
      expect(body.errors[0].message).to.contain('is 4 levels deep, more than the 3 allowed');
    });
  }

  it('limits the depth of field paths in SEARCH and in writes by query', async () => {
    const tooDeep = { downs: { up: { downs: { id: 1 } } } };
    for (const [method, body] of [
      ['SEARCH', { query: { filter: tooDeep } }],
      ['SEARCH', { query: { deep: { downs: { _filter: { up: { downs: { id: 1 } } } } } } }],
      ['DELETE', { query: { filter: tooDeep } }],
      ['PATCH', { query: { filter: tooDeep }, data: { name: 'x' } }],
    ] as const) {
      const reply = await send(method, '/items/up', body);
      expect([reply.status, reply.body.errors?.[0].extensions.code], method).to.deep.equal([400, 'INVALID_QUERY']);
      expect(reply.body.errors[0].message).to.contain('is 4 levels deep, more than the 3 allowed');
    }
  });

  it('limits the depth of fields and arguments in GraphQL', async () => {
    for (const [query, isAllowed] of [
      ['{ up { downs { up { id } } } }', true],
      ['{ up { downs { up { downs { id } } } } }', false],
      ['{ up { downs { up { downs_func { count } } } } }', true],
      ['{ up { downs { up { downs { __typename } } } } }', true],
      ['{ up { downs(filter: { up: { id: { _eq: 1 } } }) { id } } }', true],
      ['{ up { downs(filter: { up: { downs: { id: { _eq: 1 } } } }) { id } } }', false],
      ['{ up { downs(sort: ["up.id"]) { id } } }', true],
      ['{ up { downs(sort: ["up.downs.id"]) { id } } }', false],
      ['{ down { up(filter: { downs: { up: { id: { _eq: 1 } } } }) { id } } }', false],
      ['{ up(filter: { downs: { up: { downs: { id: { _eq: 1 } } } } }) { id } }', false],
      ['{ up_aggregated(filter: { downs: { up: { downs: { id: { _eq: 1 } } } } }) { countAll } }', false],
    ] as const) {
      const { body } = await send('POST', '/graphql', { query });
      if (isAllowed) expect(body.errors, query).to.equal(undefined);
      else expect(body.errors?.[0].message ?? '', query).to.contain('is 4 levels deep, more than the 3 allowed');
    }
  });
});

import { expect } from 'chai';
import { recordStatementsDuring } from '../support/capture-sql-statements.ts';
import type { FreshDatabase } from '../support/database.ts';
import { createMigratedDatabase, type InProcessService, startService } from '../support/service.ts';
import { createUserWithPermissions, requestAsAdmin } from './test-users.ts';

describe('/graphql: list arguments of many-to-one relations', () => {
  let database: FreshDatabase;
  let service: InProcessService;
  before(async () => {
    database = await createMigratedDatabase('graphql_to_one');
    await database.query(`
      create table author (id serial primary key, name text, salary int, boss int references author);
      create table post (id serial primary key, title text, author int references author);
      create table note (id serial primary key, text text, post int references post);
      insert into author (name, salary, boss) values ('Ann', 10, null), ('Bob', 20, 1);
      insert into post (title, author) values ('one', 1), ('two', 2), ('three', null);
      insert into note (text, post) values ('a', 1), ('b', 2);
    `);
    service = await startService({ database });
    await requestAsAdmin(service, 'POST', '/fields/post', {
      field: 'notes',
      type: 'alias',
      meta: { special: ['o2m'] },
    });
    await requestAsAdmin(service, 'PATCH', '/relations/note/post', { meta: { one_field: 'notes' } });
  });
  after(async () => {
    await service?.stop();
    await database?.drop();
  });

  const reply = (query: string, variables?: object, token = service.admin.token, path = '/graphql') =>
    service.request('POST', path, { token, body: { query, variables } });
  async function data(query: string, variables?: object, token?: string, path?: string) {
    const { status, body } = await reply(query, variables, token, path);
    expect([status, body.errors], query).to.deep.equal([200, undefined]);
    return body.data;
  }

  const named = { author: { name: 'Ann' } };
  const ALL = [named, { author: null }, { author: null }];
  const DOCUMENTS: readonly [what: string, query: string, variables?: object][] = [
    ['a filter', '{ post(sort: ["id"]) { author(filter: { name: { _eq: "Ann" } }) { name } } }'],
    [
      'a filter by a variable',
      'query ($name: String) { post(sort: ["id"]) { author(filter: { name: { _eq: $name } }) { name } } }',
      { name: 'Ann' },
    ],
    [
      'a filter that is a variable',
      'query ($filter: author_filter) { post(sort: ["id"]) { author(filter: $filter) { name } } }',
      { filter: { name: { _eq: 'Ann' } } },
    ],
    ['a filter of a key', '{ post(sort: ["id"]) { author(filter: { id: { _eq: 1 } }) { name } } }'],
    [
      'a filter through relations',
      '{ post(sort: ["id"]) { author(filter: { _or: [{ name: { _eq: "Ann" } }, { boss: { name: { _eq: "Cid" } } }] }) { name } } }',
    ],
    ['a search', '{ post(sort: ["id"]) { author(search: "ann") { name } } }'],
    [
      'a filter in a fragment',
      '{ post(sort: ["id"]) { ...seen } } fragment seen on post { author(filter: { name: { _eq: "Ann" } }) { name } }',
    ],
    [
      'a filter in an inline fragment, with arguments that cut lists',
      `{ post(sort: ["id"]) { ... on post { author(filter: { name: { _eq: "Ann" } }, sort: ["-name"], limit: 1, offset: 0, page: 1)
        { name } } } }`,
    ],
  ];
  for (const [what, query, variables] of DOCUMENTS) {
    it(`${what}: a row that does not match is answered as null`, async () => {
      expect((await data(query, variables)).post).to.deep.equal(ALL);
    });
  }

  it('two aliases of one relation may have different arguments', async () => {
    const query = `{ post(sort: ["id"]) { ann: author(filter: { name: { _eq: "Ann" } }) { name }
      bob: author(filter: { name: { _eq: "Bob" } }) { id } any: author { id } } }`;
    expect((await data(query)).post).to.deep.equal([
      { ann: { name: 'Ann' }, bob: null, any: { id: '1' } },
      { ann: null, bob: { id: '2' }, any: { id: '2' } },
      { ann: null, bob: null, any: null },
    ]);
  });

  it('the arguments hold behind other relations and in single rows', async () => {
    const query = `{ note_by_id(id: 2) { post(filter: { title: { _eq: "two" } }) { title notes { post { author(filter:
      { name: { _eq: "Ann" } }) { name } } } } } }`;
    expect((await data(query)).note_by_id).to.deep.equal({
      post: { title: 'two', notes: [{ post: { author: null } }] },
    });
  });

  it('the arguments hold in the answer of a mutation', async () => {
    const query = `mutation { update_post_item(id: 1, data: { title: "one" }) { author(filter: { name: { _eq: "Bob" } }) { id } } }`;
    expect((await data(query)).update_post_item).to.deep.equal({ author: null });
  });

  it('relations of system collections have the arguments', async () => {
    const query = '{ users { role(filter: { name: { _eq: "no such role" } }) { name } same: role { name } } }';
    const { users } = await data(query, undefined, undefined, '/graphql/system');
    expect(users[0].role).to.equal(null);
    expect(users[0].same.name).to.be.a('string');
  });

  it('the arguments cost no further statement', async () => {
    const ask = (name: string) => data(DOCUMENTS[1]?.[1] as string, { name });
    for (const name of ['Ann', 'Bob']) await ask(name);
    const sent = await recordStatementsDuring(() => ask('Cid'));
    expect(sent, sent.join('\n\n')).to.have.length(1);
  });

  it('an invalid limit is refused', async () => {
    const { body } = await reply('{ post { author(limit: -2) { name } } }');
    expect(body.errors[0].extensions.code).to.equal('INVALID_QUERY');
  });

  it('a filter has no fields that the caller may not read', async () => {
    const { token } = await createUserWithPermissions(service, [
      { collection: 'post', action: 'read' },
      { collection: 'author', action: 'read', fields: ['id', 'name'] },
    ]);
    const visible = await data(
      '{ post(sort: ["id"]) { author(filter: { name: { _eq: "Ann" } }) { name } } }',
      {},
      token,
    );
    expect(visible.post).to.deep.equal(ALL);
    for (const filter of ['{ salary: { _gt: 15 } }', '{ boss: { name: { _eq: "Ann" } } }']) {
      const { status } = await reply(`{ post { author(filter: ${filter}) { name } } }`, {}, token);
      expect(status, filter).to.equal(400);
    }
    const { status } = await reply(
      'query ($filter: author_filter) { post { author(filter: $filter) { name } } }',
      { filter: { salary: { _gt: 15 } } },
      token,
    );
    expect(status).to.equal(400);
  });

  it('a filter matches no row that the caller may not read', async () => {
    const { token } = await createUserWithPermissions(service, [
      { collection: 'post', action: 'read' },
      { collection: 'author', action: 'read', permissions: { name: { _eq: 'Bob' } } },
    ]);
    const { post } = await data(DOCUMENTS[0]?.[1] as string, {}, token);
    expect(post).to.deep.equal([{ author: null }, { author: null }, { author: null }]);
  });
});

import { expect } from 'chai';
import { createUserWithPermissions, requestAsAdmin, type TestUserWithToken } from '../../../http/test-users.ts';
import { recordStatementsDuring } from '../../../support/capture-sql-statements.ts';
import type { FreshDatabase } from '../../../support/database.ts';
import { createMigratedDatabase, type InProcessService, startService } from '../../../support/service.ts';

describe('GraphQL documents run by the whole service', () => {
  let database: FreshDatabase;
  let service: InProcessService;
  let writer: TestUserWithToken;
  let reader: TestUserWithToken;
  before(async () => {
    database = await createMigratedDatabase('graphql_execute');
    await database.query(`
      create table person (id serial primary key, name text not null);
      create table post (id serial primary key, title text unique, views numeric(10, 2), day date, meta jsonb, author int references person);
      create table remark (id uuid primary key default gen_random_uuid(), text text, post int references post on delete cascade);
      create table heading (id serial primary key, text text);
      create table image (id serial primary key, url text);
      create table block (id serial primary key, post int references post on delete cascade, kind text, item text, place int);
      create table site (id serial primary key, title text default 'Untitled');
    `);
    service = await startService({ database, env: { QUERY_LIMIT_MAX: '5000' } });
    const admin = (method: string, path: string, body: unknown) => requestAsAdmin(service, method, path, body);
    for (const [one, field, many, key] of [
      ['person', 'posts', 'post', 'author'],
      ['post', 'remarks', 'remark', 'post'],
      ['post', 'blocks', 'block', 'post'],
    ]) {
      await admin('POST', `/fields/${one}`, { field, type: 'alias', meta: { special: ['o2m'] } });
      await admin('PATCH', `/relations/${many}/${key}`, { meta: { one_field: field } });
    }
    await admin('PATCH', '/relations/block/post', { meta: { sort_field: 'place' } });
    await admin('PATCH', '/collections/site', { meta: { singleton: true } });
    const any = { one_allowed_collections: ['heading', 'image'], one_collection_field: 'kind' };
    await admin('POST', '/relations', { collection: 'block', field: 'item', meta: any });
    writer = await createUserWithPermissions(service, [{ collection: 'post', action: 'create' }]);
    reader = await createUserWithPermissions(service, [
      { collection: 'post', action: 'read', permissions: { views: { _lt: 10 } } },
      { collection: 'post', action: 'update' },
      { collection: 'post', action: 'create' },
    ]);
  });
  beforeEach(async () => {
    await database.query('truncate person, post, remark, heading, image, block, site restart identity cascade');
    await database.query(`
      insert into person (name) values ('Ann'), ('Bob');
      insert into post (title, views, day, meta, author) values
        ('one', 1.50, '2020-02-03', '{"a":[{"b":7}]}', 1), ('two', 20, '2021-05-06', null, 1), ('three', null, null, '[1,2]', 2);
      insert into remark (text, post) values ('x', 1), ('y', 1), ('z', 2);
      insert into heading (text) values ('h1'), ('h2');
      insert into image (url) values ('i1');
      insert into block (post, kind, item, place) values (1, 'image', '1', 2), (1, 'heading', '2', 1), (2, 'heading', '1', 1);
    `);
  });
  after(async () => {
    await service?.stop();
    await database?.drop();
  });

  const ask = async (query: string, variables: object = {}, token: string = service.admin.token) => {
    const reply = await service.request('POST', '/graphql', { token, body: { query, variables } });
    expect(reply.status, JSON.stringify(reply.body)).to.equal(200);
    return reply.body;
  };
  const data = async (query: string, variables: object = {}, token?: string) => {
    const body = await ask(query, variables, token);
    expect(body).to.have.all.keys('data');
    return body.data;
  };
  const codes = (body: { errors: { extensions: { code: string } }[] }) => body.errors.map((one) => one.extensions.code);

  it('reads aliases, fragments, functions and the same relation twice in one statement', async () => {
    const text = `query ($text: String, $rest: Boolean!) {
      post(sort: "id", filter: { remarks: { _some: { text: { _eq: $text } } } }) {
        number: id title views day_func { year } meta_func { count b: json(path: "a[0].b") }
        ...people
        first: remarks(limit: 1, sort: "text") { text }
        others: remarks(offset: 1, sort: "text") @include(if: $rest) { text }
        __typename
      }
    } fragment people on post { author { name posts(sort: "-id") { id } } author { __typename } }`;
    const one = {
      number: '1',
      title: 'one',
      views: 1.5,
      day_func: { year: 2020 },
      meta_func: { count: null, b: 7 },
      author: { name: 'Ann', posts: [{ id: '2' }, { id: '1' }], __typename: 'person' },
      first: [{ text: 'x' }],
      others: [{ text: 'y' }],
      __typename: 'post',
    };
    const variables = { text: 'y', rest: true };
    const { post } = await data(text, variables);
    expect(post).to.deep.equal([one]);
    expect(Object.keys(post[0])).to.deep.equal(Object.keys(one));
    const { others: _, ...without } = one;
    expect((await data(text, { ...variables, rest: false })).post).to.deep.equal([without]);
    // Without the variable there is no condition, and every post with remarks matches.
    expect((await data(text, { rest: false })).post.map(({ number }: { number: string }) => number)).to.deep.equal([
      '1',
      '2',
    ]);
    expect((await data(text, { rest: false, text: 'nothing' })).post).to.deep.equal([]);
    await data(text, variables);
    expect(await recordStatementsDuring(() => data(text, variables))).to.have.length(1);
  });

  it('reads the rows of a many-to-any by type', async () => {
    const text = `{ post(sort: "id", limit: 2) { blocks(sort: "place") { item {
      __typename ... on heading { words: text } ...pictures
    } } } } fragment pictures on image { words: url }`;
    expect((await data(text)).post).to.deep.equal([
      {
        blocks: [{ item: { __typename: 'heading', words: 'h2' } }, { item: { __typename: 'image', words: 'i1' } }],
      },
      { blocks: [{ item: { __typename: 'heading', words: 'h1' } }] },
    ]);
    const empty = '{ post_by_id(id: 1) { blocks(sort: "place") { item { ... on image { url } } } } }';
    expect((await data(empty)).post_by_id).to.deep.equal({ blocks: [{ item: {} }, { item: { url: 'i1' } }] });
    const filter = '{ block(filter: { item__heading: { text: { _eq: "h2" } } }) { id } }';
    expect((await data(filter)).block).to.deep.equal([{ id: '2' }]);
  });

  it('shares a statement between keys, but no rows', async () => {
    const text = 'query ($id: ID!) { post_by_id(id: $id) { title } }';
    for (const [id, title] of [
      [1, 'one'],
      ['2', 'two'],
      [3, 'three'],
      ['1', 'one'],
    ])
      expect(await data(text, { id })).to.deep.equal({ post_by_id: { title } });
    const missing = await ask(text, { id: 99 });
    expect(missing.data).to.deep.equal({ post_by_id: null });
    expect(codes(missing)).to.deep.equal(['FORBIDDEN']);
    expect(codes(await ask(text, { id: 'no number' }))).to.deep.equal(['FORBIDDEN']);
  });

  it('groups rows', async () => {
    const text = `{ post_aggregated(groupBy: ["author"], sort: "author") { group countAll count { title } sum { views } } }`;
    expect((await data(text)).post_aggregated).to.deep.equal([
      { group: { author: 1 }, countAll: 2, count: { title: 2 }, sum: { views: 21.5 } },
      { group: { author: 2 }, countAll: 1, count: { title: 1 }, sum: { views: null } },
    ]);
  });

  it('streams a long list, and answers a short one at once', async () => {
    await database.query(
      `insert into post (title) select 'post ' || n || repeat('.', 200) from generate_series(1, 4000) n`,
    );
    const text = 'query ($limit: Int) { all: post(limit: $limit, sort: "id") { id title } }';
    const long = await service.request('POST', '/graphql', {
      token: service.admin.token,
      body: { query: text, variables: { limit: 5000 } },
    });
    expect(long.headers.get('content-length')).to.equal(null);
    expect(long.body.data.all).to.have.length(4003);
    expect(long.body.data.all[4002].id).to.equal('4003');
    expect((await data(text, { limit: 2 })).all).to.have.length(2);
    expect((await data(`{ all: post(limit: 5000) { id } two: post(limit: 1, sort: "id") { id } }`)).two).to.deep.equal([
      { id: '1' },
    ]);
  });

  it('writes rows with related rows, with keys as texts', async () => {
    const created = await data(
      `mutation ($data: create_post_input!) { create_post_item(data: $data) { id author { id name } remarks(sort: "text") { text } meta } }`,
      {
        data: {
          title: 'new',
          meta: { deep: [{ a: null }] },
          author: { id: '2', name: 'Bert' },
          remarks: [{ text: 'a' }, { text: 'b' }],
        },
      },
    );
    expect(created.create_post_item).to.deep.equal({
      id: '4',
      author: { id: '2', name: 'Bert' },
      remarks: [{ text: 'a' }, { text: 'b' }],
      meta: { deep: [{ a: null }] },
    });
    const literal = `mutation { create_post_item(data: { title: "literal", meta: { a: [{ b: 1 }] }, author: { name: "Cid" } }) { id meta author { id } } }`;
    expect((await data(literal)).create_post_item).to.deep.equal({
      id: '5',
      meta: { a: [{ b: 1 }] },
      author: { id: '3' },
    });
    const changed = await data(`mutation {
      update_post_item(id: "1", data: { title: "1st" }) { title }
      update_post_items(ids: [3, 2], data: { views: 5 }) { id views }
      update_post_batch(data: [{ id: "2", title: "2nd" }, { id: 1, day: "2022-01-02" }]) { title day }
      update_site(data: { title: "Home" }) { id title }
      delete_post_item(id: 3) { id }
      delete_post_items(ids: [4, 5]) { ids }
    }`);
    expect(changed).to.deep.equal({
      update_post_item: { title: '1st' },
      update_post_items: [
        { id: '3', views: 5 },
        { id: '2', views: 5 },
      ],
      update_post_batch: [
        { title: '2nd', day: '2021-05-06' },
        { title: '1st', day: '2022-01-02' },
      ],
      update_site: { id: '1', title: 'Home' },
      delete_post_item: { id: '3' },
      delete_post_items: { ids: ['4', '5'] },
    });
    expect(await data('{ post { id } site { title } }')).to.deep.equal({
      post: [{ id: '1' }, { id: '2' }],
      site: { title: 'Home' },
    });
  });

  it('answers the written rows that the document filters for', async () => {
    const text = `mutation ($data: [create_post_input!]!, $limit: Int) {
      create_post_items(data: $data, filter: { title: { _contains: "k" } }, sort: ["-title"], limit: $limit) { title }
    }`;
    const rows = (from: number, count: number) =>
      Array.from({ length: count }, (_, at) => ({ title: `k${from + at}` }));
    const { create_post_items: all } = await data(text, { data: [...rows(1000, 120), { title: 'other' }] });
    expect(all).to.have.length(120);
    expect(all[0]).to.deep.equal({ title: 'k1119' });
    const { create_post_items: some } = await data(text, { data: rows(2000, 3), limit: 2 });
    expect(some).to.deep.equal([{ title: 'k2002' }, { title: 'k2001' }]);
  });

  it('refuses invalid conditions on the answer before it writes', async () => {
    for (const shown of [
      'remarks(limit: 5001) { id }',
      'remarks(sort: "nothing") { id }',
      'author { posts(page: -1) { id } }',
    ]) {
      const body = await ask(`mutation { update_post_item(id: 1, data: { title: "changed" }) { ${shown} } }`);
      expect(body.data, shown).to.deep.equal({ update_post_item: null });
    }
    const refused = await ask(
      'mutation { update_post_items(ids: [1], data: { title: "changed" }, limit: 5001) { id } }',
    );
    expect(refused.data).to.equal(null);
    expect((await data('{ post_by_id(id: 1) { title } }')).post_by_id).to.deep.equal({ title: 'one' });
  });

  it('keeps the mutations before a failed one, and those after a failed one that is nullable', async () => {
    const body = await ask(`mutation {
      a: update_post_item(id: 1, data: { title: "a" }) { title }
      b: update_post_item(id: 2, data: { title: "a" }) { title }
      c: update_post_item(id: 3, data: { title: "c" }) { title }
      d: update_post_items(ids: [99], data: { title: "d" }) { title }
      e: update_post_item(id: 3, data: { title: "e" }) { title }
    }`);
    expect(body.data).to.equal(null);
    expect(codes(body)).to.deep.equal(['RECORD_NOT_UNIQUE', 'FORBIDDEN']);
    expect(body.errors.map(({ path }: { path: string[] }) => path)).to.deep.equal([['b'], ['d']]);
    expect((await data('{ post(sort: "id") { title } }')).post).to.deep.equal([
      { title: 'a' },
      { title: 'two' },
      { title: 'c' },
    ]);
  });

  it('answers no fields or rows that the caller may not read', async () => {
    const { post } = await data('{ post { title } }', {}, reader.token);
    expect(post).to.deep.equal([{ title: 'one' }]);
    const many = 'mutation { update_post_items(ids: [2, 1], data: { meta: [1] }) { title } }';
    expect(await data(many, {}, reader.token)).to.deep.equal({ update_post_items: [{ title: 'one' }] });
    const hidden =
      'mutation { create_post_item(data: { title: "much", views: 99 }) { id } create_post_items(data: [{ title: "more", views: 99 }]) { id } }';
    expect(await data(hidden, {}, reader.token)).to.deep.equal({ create_post_item: null, create_post_items: [] });
    const blind = 'mutation { create_post_item(data: { title: "blind" }) create_post_items(data: [{ title: "b" }]) }';
    expect(await data(blind, {}, writer.token)).to.deep.equal({ create_post_item: true, create_post_items: true });
  });

  it('refuses wrong variables with 400 and without data', async () => {
    const body = { query: 'query ($id: ID!) { post_by_id(id: $id) { id } }', variables: { id: true } };
    const reply = await service.request('POST', '/graphql', { token: service.admin.token, body });
    expect(reply.status).to.equal(400);
    expect(reply.body).to.have.all.keys('errors');
    expect(reply.body.errors[0].extensions.code).to.equal('GRAPHQL_VALIDATION_EXCEPTION');
  });

  it('answers a singleton that has no row', async () => {
    expect(await data('{ site { id title kind: __typename } }')).to.deep.equal({
      site: { id: null, title: 'Untitled', kind: 'site' },
    });
  });

  it('answers the key of a deleted row that did not exist', async () => {
    const { body } = await service.request('POST', '/graphql', {
      token: service.admin.token,
      body: { query: 'mutation { delete_post_item(id: 999) { id } }' },
    });
    expect(body).to.deep.equal({ data: { delete_post_item: { id: '999' } } });
  });

  it('answers an introspection query from its cache until the schema changes', async () => {
    const ask = async () =>
      (
        await service.request('POST', '/graphql', {
          token: service.admin.token,
          body: { query: '{ __type(name: "heading") { fields { name } } }' },
        })
      ).body.data.__type.fields.map(({ name }: { name: string }) => name);
    expect([await ask(), await ask()]).to.deep.equal([
      ['id', 'text'],
      ['id', 'text'],
    ]);
    await requestAsAdmin(service, 'POST', '/fields/heading', { field: 'size', type: 'integer' });
    expect(await ask()).to.deep.equal(['id', 'text', 'size']);
  });
});

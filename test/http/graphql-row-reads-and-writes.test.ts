import { expect } from 'chai';
import type { FreshDatabase } from '../support/database.ts';
import { createMigratedDatabase, type InProcessService, startService } from '../support/service.ts';
import { requestAsAdmin } from './test-users.ts';

const UUID = '3f0e9a52-3b0c-4d51-9a4e-0d1a6c1f7a11';

/** Rows that clients write and read by GraphQL, compared with the answers of REST. */
describe('/graphql: reading and writing rows as clients in the field do', function () {
  this.timeout(120_000);
  let database: FreshDatabase;
  let service: InProcessService;
  const reply = (query: string, variables?: object) =>
    service.request('POST', '/graphql', { token: service.admin.token, body: { query, variables } });
  async function data(query: string, variables?: object) {
    const { status, body } = await reply(query, variables);
    expect([status, body.errors], query).to.deep.equal([200, undefined]);
    return body.data;
  }
  const rest = (path: string) => requestAsAdmin(service, 'GET', path);

  before(async () => {
    database = await createMigratedDatabase('graphql_conformance');
    await database.query(`
      create type mood as enum ('happy', 'sad');
      create domain stars as int check (value between 1 and 5);
      create table author (id serial primary key, name varchar(20) not null, boss int references author);
      create table tag (id text primary key, label text);
      create table post (id serial primary key, title text not null, status varchar(20) default 'draft',
        author int references author on delete set null, moment timestamptz, day date, clock time, plain timestamp, big bigint,
        price numeric(10, 2), ratio double precision, flag boolean, doc jsonb, words text, texts text[], whole int[], mood mood,
        stars stars, code uuid);
      create table post_tag (id serial primary key, post int references post on delete cascade, tag text references tag, place int);
      create table note (id serial primary key, text text not null, score int, post int references post on delete cascade);
      create table thing (id uuid primary key default gen_random_uuid(), name text);
      create table account (id bigserial primary key, name text);
      create table site (id serial primary key, title text not null, theme text default 'plain', owner int references author);
      create view popular as select a.id, a.name, count(p.id)::int as posts from author a left join post p on p.author = a.id group by a.id;
    `);
    service = await startService({ database });
    const admin = (method: string, path: string, body: unknown) => requestAsAdmin(service, method, path, body);
    await admin('PATCH', '/collections/site', { meta: { singleton: true } });
    await admin('PATCH', '/fields/post/words', { meta: { special: ['cast-csv'] } });
    for (const [one, field, many, key, junction] of [
      ['author', 'staff', 'author', 'boss'],
      ['author', 'posts', 'post', 'author'],
      ['post', 'notes', 'note', 'post'],
      ['post', 'tags', 'post_tag', 'post', 'tag'],
      ['tag', 'posts', 'post_tag', 'tag', 'post'],
    ]) {
      const special = [junction === undefined ? 'o2m' : 'm2m'];
      await admin('POST', `/fields/${one}`, { field, type: 'alias', meta: { special } });
      await admin('PATCH', `/relations/${many}/${key}`, {
        meta: { one_field: field, junction_field: junction ?? null },
      });
    }
    await admin('PATCH', '/relations/post_tag/post', { meta: { sort_field: 'place' } });
  });
  beforeEach(async () => {
    await database.query('truncate author, tag, post, post_tag, note, thing, account, site restart identity cascade');
    await database.query(`
      insert into author (name, boss) values ('Ann', null), ('Bob', 1), ('Cid', 1);
      insert into tag values ('red', 'Red'), ('blue', 'Blue');
      insert into post (title, status, author, moment, day, big, price) values
        ('one', 'draft', 1, '2024-01-01T10:00:00Z', '2024-01-01', 10, 1.5),
        ('two', 'published', 2, '2023-06-01T10:00:00Z', '2023-06-01', 9007199254740993, 2.5),
        ('three', null, null, now() + interval '1 day', null, null, null);
      insert into post_tag (post, tag, place) values (1, 'red', 2), (1, 'blue', 1), (2, 'red', 1);
      insert into note (text, score, post) values ('a', 1, 1), ('b', 5, 1), ('c', 3, 2);
    `);
  });
  after(async () => {
    await service?.stop();
    await database?.drop();
  });

  describe('relations', () => {
    const UPDATE = `mutation ($data: update_post_input!) { update_post_item(id: 1, data: $data) {
      author { id name } notes { id text } tags { id tag { id label } } } }`;
    const updated = async (payload: object) => (await data(UPDATE, { data: payload })).update_post_item;

    it('a many-to-one is linked, updated and cleared', async () => {
      expect((await updated({ author: { id: 2 } })).author).to.deep.equal({ id: '2', name: 'Bob' });
      expect((await updated({ author: { id: '3', name: 'Sid' } })).author).to.deep.equal({ id: '3', name: 'Sid' });
      expect((await updated({ author: { name: 'New' } })).author).to.deep.equal({ id: '4', name: 'New' });
      expect((await updated({ author: null })).author).to.equal(null);
      expect(await rest('/items/post/1?fields=author')).to.deep.equal({ author: null });
      expect(await rest('/items/author/3?fields=name')).to.deep.equal({ name: 'Sid' });
    });

    it('a list becomes the rows that are sent: rows with keys stay, rows without are created, all others are removed', async () => {
      const { notes } = await updated({ notes: [{ id: 2, text: 'changed' }, { text: 'new' }, { id: 3 }] });
      expect(notes).to.deep.equal([
        { id: '2', text: 'changed' },
        { id: '3', text: 'c' },
        { id: '4', text: 'new' },
      ]);
      expect(await rest('/items/note/1?fields=post')).to.deep.equal({ post: null });
      expect((await updated({ notes: [] })).notes).to.deep.equal([]);
    });

    it('a many-to-many links rows through its junction', async () => {
      const { tags } = await updated({
        tags: [{ id: 1 }, { tag: { id: 'blue', label: 'Navy' }, place: 3 }, { tag: { id: 'green' }, place: 4 }],
      });
      expect(tags).to.deep.equal([
        { id: '1', tag: { id: 'red', label: 'Red' } },
        { id: '4', tag: { id: 'blue', label: 'Navy' } },
        { id: '5', tag: { id: 'green', label: null } },
      ]);
      expect(await rest('/items/tag/green?fields=posts.post')).to.deep.equal({ posts: [{ post: 1 }] });
    });

    it('a relation of a collection to itself is written at both ends', async () => {
      const payload = { name: 'Dee', boss: { name: 'Eve', boss: { id: 1 } }, staff: [{ id: 2 }, { name: 'Fay' }] };
      const written = await data(
        `mutation ($data: create_author_input!) { create_author_item(data: $data) {
          boss { name boss { name } } staff { name boss { name } } } }`,
        { data: payload },
      );
      expect(written.create_author_item).to.deep.equal({
        boss: { name: 'Eve', boss: { name: 'Ann' } },
        staff: [
          { name: 'Bob', boss: { name: 'Dee' } },
          { name: 'Fay', boss: { name: 'Dee' } },
        ],
      });
    });
  });

  const VALUES: readonly [field: string, value: unknown, inRest?: unknown][] = [
    ['moment', '2024-02-29T13:30:05.678Z'],
    ['day', '2024-02-29'],
    ['clock', '13:30:05'],
    ['plain', '2024-02-29T13:30:05'],
    ['big', '9223372036854775807'],
    ['price', 12.5, '12.50'],
    ['ratio', -1e-7],
    ['flag', false],
    ['doc', { a: [1, { b: null }], 'ü"': 'x' }],
    ['doc', '{"a":1}'],
    ['words', ['a', 'b']],
    ['texts', ['a', 'b,c', null]],
    ['whole', [1, -2]],
    ['mood', 'sad'],
    ['stars', 5],
    ['code', UUID],
  ];
  for (const [field, value, inRest = value] of VALUES)
    it(`writes and reads ${field} ${JSON.stringify(value)}`, async () => {
      const written = await data(
        `mutation ($data: create_post_input!) { create_post_item(data: $data) { id value: ${field} } }`,
        { data: { title: 'x', [field]: value } },
      );
      const { id, value: shown } = written.create_post_item;
      expect(shown).to.deep.equal(value);
      expect(await rest(`/items/post/${id}?fields=${field}`)).to.deep.equal({ [field]: inRest });
      const cleared = `mutation { update_post_item(id: ${id}, data: { ${field}: null }) { value: ${field} } }`;
      expect(await data(cleared)).to.deep.equal({ update_post_item: { value: null } });
    });

  it('keys may be texts, UUIDs, and integers larger than those of JavaScript', async () => {
    const written = await data(`mutation {
      create_tag_item(data: { id: "ä/ö ü" }) { id }
      create_thing_item(data: { name: "x" }) { id }
      create_account_item(data: { id: "9007199254740993", name: "x" }) { id }
    }`);
    expect(written.create_tag_item).to.deep.equal({ id: 'ä/ö ü' });
    expect(written.create_account_item).to.deep.equal({ id: '9007199254740993' });
    const { id } = written.create_thing_item;
    const query = `query ($id: ID!, $ids: [ID]) {
      tag_by_id(id: "ä/ö ü") { id } thing(filter: { id: { _in: $ids } }) { id } thing_by_id(id: $id) { name }
      account_by_id(id: "9007199254740993") { id } account(filter: { id: { _gt: 9007199254740992 } }) { name } }`;
    expect(await data(query, { id, ids: [id] })).to.deep.equal({
      tag_by_id: { id: 'ä/ö ü' },
      thing: [{ id }],
      thing_by_id: { name: 'x' },
      account_by_id: { id: '9007199254740993' },
      account: [{ name: 'x' }],
    });
  });

  it('a mutation of many rows without its optional "data" writes no rows', async () => {
    const many = 'mutation ($data: [create_tag_input!]) { create_tag_items(data: $data) { id } }';
    expect(await data(many)).to.deep.equal({ create_tag_items: [] });
    expect(await data(many, { data: [{ id: 'x' }, { id: 'y' }] })).to.deep.equal({
      create_tag_items: [{ id: 'x' }, { id: 'y' }],
    });
    const each = 'mutation ($data: [update_tag_input!]) { update_tag_batch(data: $data) { id label } }';
    expect(await data(each, { data: [{ id: 'x', label: 'X' }] })).to.deep.equal({
      update_tag_batch: [{ id: 'x', label: 'X' }],
    });
  });

  it('a singleton is answered before its first write, which creates the row', async () => {
    const typed = await data('{ __type(name: "site") { fields { type { kind } } } }');
    expect(JSON.stringify(typed)).not.to.include('NON_NULL');
    const READ = '{ site { id title theme owner { name } } }';
    expect(await data(READ)).to.deep.equal({ site: { id: null, title: null, theme: 'plain', owner: null } });
    const write = (payload: string) => data(`mutation { update_site(data: ${payload}) { id title owner { name } } }`);
    const written = await write('{ title: "First", owner: { id: 2 } }');
    expect(written.update_site).to.deep.equal({ id: '1', title: 'First', owner: { name: 'Bob' } });
    await write('{ owner: null }');
    expect(await data(READ)).to.deep.equal({ site: { id: '1', title: 'First', theme: 'plain', owner: null } });
  });

  it('a view is read like a table', async () => {
    const query = '{ popular(sort: ["-posts", "name"], filter: { posts: { _gt: 0 } }) { id name posts } }';
    expect((await data(query)).popular).to.deep.equal([
      { id: 1, name: 'Ann', posts: 1 },
      { id: 2, name: 'Bob', posts: 1 },
    ]);
  });

  const FINDS: readonly [args: string, ids: readonly number[], variables?: object, declared?: string][] = [
    ['filter: { notes: { _some: { score: { _gt: 4 } } } }', [1]],
    ['filter: { notes: { _none: { score: { _gt: 4 } } } }', [2, 3]],
    ['filter: { notes: { score: { _gt: 2 } } }', [1, 2]],
    ['filter: { tags: { tag: { label: { _eq: "Blue" } } } }', [1]],
    ['filter: { tags: { _none: {} } }', [3]],
    ['filter: { author: { boss: { name: { _eq: "Ann" } } } }', [2]],
    ['filter: { author: { id: { _null: true } } }', [3]],
    ['filter: { _or: [{ title: { _eq: "one" } }, { _and: [{ status: { _null: true } }] }] }', [1, 3]],
    ['filter: { moment: { _lt: "$NOW" } }', [1, 2]],
    ['filter: { moment: { _gt: "$NOW(+1 hour)" } }', [3]],
    ['filter: { moment_func: { year: { _in: [2024, "2023"] } } }', [1, 2]],
    ['filter: { tags_func: { count: { _eq: 2 } } }', [1]],
    ['filter: { big: { _eq: "9007199254740993" } }', [2]],
    ['filter: { price: { _between: [1, "2.5"] } }', [1, 2]],
    ['filter: { day: { _gte: "2023-06-01" }, status: { _neq: "draft" } }', [2]],
    ['filter: { id: { _in: $ids } }', [1, 2], { ids: ['1', 2] }, '$ids: [ID]'],
    ['filter: { status: { _in: $all } }', [1, 2], { all: ['draft', 'published'] }, '$all: [String!]!'],
    ['filter: { status: { _eq: $one } }', [1, 2, 3], {}, '$one: String'],
    ['filter: { big: { _lt: $most } }', [1], { most: 11 }, '$most: GraphQLBigInt'],
    ['filter: { price: { _lt: $most } }', [1], { most: 2 }, '$most: GraphQLStringOrFloat!'],
    ['filter: { id: { _in: $ids } }', [1, 2], { ids: [1, 2] }, '$ids: [Int!]'],
    ['filter: { id: { _eq: $id } }', [2], { id: '2' }, '$id: String!'],
    ['filter: { price: { _lt: $most } }', [1], { most: 2 }, '$most: Int'],
    ['filter: { price: { _between: [$least, $most] } }', [1, 2], { least: 1, most: 2.5 }, '$least: Int, $most: Float'],
    ['filter: { big: { _lt: $most } }', [1], { most: 11 }, '$most: Int!'],
    ['filter: { day: { _gte: $day }, status: { _neq: "draft" } }', [2], { day: '2023-06-01' }, '$day: Date'],
    ['filter: $filter', [2], { filter: { author: { name: { _eq: 'Bob' } } } }, '$filter: post_filter'],
    ['sort: ["-author.name", "title"]', [3, 2, 1]],
    ['sort: ["-moment"]', [3, 1, 2]],
    ['sort: "title"', [1, 3, 2]],
    ['search: "TW"', [2]],
    ['limit: -1', [1, 2, 3]],
    ['limit: 0', []],
    ['limit: 2, page: 2', [3]],
    ['limit: $limit, offset: $offset', [2], { limit: 1, offset: 1 }, '$limit: Int, $offset: Int'],
  ];
  for (const [args, ids, variables, declared] of FINDS)
    it(`finds ${JSON.stringify(ids)} by ${args}`, async () => {
      const { post } = await data(`query ${declared ? `(${declared}) ` : ''}{ post(${args}) { id } }`, variables);
      expect(post.map(({ id }: { id: string }) => Number(id))).to.deep.equal(ids);
    });

  const MISFITS: readonly [text: string, variables: object][] = [
    ['query ($id: Int!) { post_by_id(id: $id) { id } }', { id: 1 }],
    ['query ($one: Int) { post(filter: { status: { _eq: $one } }) { id } }', { one: 1 }],
    ['query ($no: String) { post(filter: { id: { _null: $no } }) { id } }', { no: 'true' }],
    ['query ($ids: [Int]) { post(filter: { id: { _eq: $ids } }) { id } }', { ids: [1] }],
    ['query ($id: Boolean) { post(filter: { id: { _eq: $id } }) { id } }', { id: true }],
    ['query ($limit: String) { post(limit: $limit) { id } }', { limit: '1' }],
  ];
  for (const [text, variables] of MISFITS)
    it(`refuses a variable of another type: ${text}`, async () => {
      const { status, body } = await reply(text, variables);
      expect(status).to.equal(400);
      expect(body.errors[0].message).to.contain('used in position expecting type');
    });
});

import { expect } from 'chai';
import { stringify } from 'qs';
import type { FreshDatabase } from '../support/database.ts';
import { createMigratedDatabase, type InProcessService, startService } from '../support/service.ts';
import { requestAsAdmin } from './test-users.ts';

type Query = Readonly<Record<string, unknown>>;

/** Queries that are sent in every encoding. Their values are texts, since a query string has no numbers or booleans. */
const QUERIES: Readonly<Record<string, Query>> = {
  'fields and a filter': { fields: ['id', 'title', 'author.name'], filter: { author: { name: { _eq: 'Ann' } } } },
  'logic in logic': {
    fields: ['id'],
    filter: {
      _or: [{ _and: [{ views: { _gt: '5' } }, { title: { _contains: 'a' } }] }, { title: 'Two & "three"=?#' }],
    },
  },
  'lists of values': { fields: ['id'], filter: { id: { _in: ['1', '3'] }, views: { _between: ['0', '30'] } } },
  'flags and null': { fields: ['id'], filter: { author: { _null: 'true' }, title: { _nnull: 'true' } } },
  'sort, paging and counts': { fields: ['id'], sort: ['-views', 'title'], limit: '2', page: '2', meta: ['*'] },
  'deep at two levels': {
    fields: ['name', 'posts.title', 'posts.comments.body'],
    deep: {
      posts: { _filter: { views: { _lt: '50' } }, _sort: ['-id'], comments: { _limit: '1', _sort: ['-body'] } },
    },
  },
  'aliases with their own filters': {
    fields: ['name', 'first.id', 'rest.id'],
    alias: { first: 'posts', rest: 'posts' },
    deep: { first: { _limit: '1' }, rest: { _offset: '1' } },
  },
  'functions everywhere': {
    fields: ['id', 'year(made)', 'count(comments)', 'json(doc, a.b[0])'],
    filter: { 'year(made)': { _gte: '2020' } },
    sort: ['-count(comments)', 'id'],
  },
  aggregates: {
    aggregate: { count: ['*'], sum: ['views'], max: ['views', 'title'] },
    groupBy: ['year(made)', 'author'],
    sort: ['-count', 'author'],
  },
  'some, none and a relation backwards': {
    fields: ['id'],
    filter: {
      comments: { _none: { body: 'c9' } },
      '$FOLLOW(comment,post)': { _some: { body: { _starts_with: 'c' } } },
    },
  },
  'inside JSON': { fields: ['id'], filter: { doc: { _json: { 'a.b[0]': { _eq: 'x' } } } } },
  'search and unicode': { fields: ['id', 'title'], search: 'größe 名', meta: ['filter_count'] },
};
const ON: Readonly<Record<string, string>> = {
  'deep at two levels': 'person',
  'aliases with their own filters': 'person',
};

describe('encodings of a query', () => {
  let database: FreshDatabase;
  let service: InProcessService;
  before(async () => {
    database = await createMigratedDatabase('forms');
    await database.query(`
      create table person (id serial primary key, name text);
      create table post (id serial primary key, title text, views int, made timestamptz, doc jsonb, author int references person);
      create table comment (id serial primary key, body text, post int references post);
      create table many (id serial primary key, n int);
      create table config (id serial primary key, title text default 'Plain', flag boolean default true);
      insert into person (name) values ('Ann'), ('Bob');
      insert into post (title, views, made, doc, author) values ('A tale', 10, '2024-01-01', '{"a":{"b":["x"]}}', 1),
        ('Two & "three"=?#', 20, '2019-01-01', null, 2), ('größe 名', 30, '2024-06-01', null, 1), ('Last', null, null, '[]', null);
      insert into comment (body, post) values ('c1', 1), ('c2', 1), ('c9', 2), ('c3', 3);
      insert into many (n) select n from generate_series(1, 700) n;
    `);
    service = await startService({ database });
    for (const [one, field, many, key] of [
      ['person', 'posts', 'post', 'author'],
      ['post', 'comments', 'comment', 'post'],
    ]) {
      await requestAsAdmin(service, 'POST', `/fields/${one}`, { field, type: 'alias', meta: { special: ['o2m'] } });
      await requestAsAdmin(service, 'PATCH', `/relations/${many}/${key}`, { meta: { one_field: field } });
    }
    await requestAsAdmin(service, 'PATCH', '/collections/config', { meta: { singleton: true } });
  });
  after(async () => {
    await service?.stop();
    await database?.drop();
  });

  /** The body of the answer as text, so that tests compare it byte for byte. */
  async function send(method: string, path: string, body?: unknown): Promise<{ status: number; text: string }> {
    const reply = await fetch(`${service.url}/items/${path}`, {
      method,
      headers: {
        authorization: `Bearer ${service.admin.token}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    return { status: reply.status, text: await reply.text() };
  }
  const get = (collection: string, search: string) => send('GET', `${collection}?${search}`);

  const isPlain = (value: unknown): value is string => typeof value === 'string';
  const asJson = (query: Query): string =>
    stringify(
      Object.fromEntries(
        Object.entries(query).map(([name, value]) => [
          name,
          isPlain(value) || Array.isArray(value) ? value : JSON.stringify(value),
        ]),
      ),
    );
  const asCsv = (query: Query): string =>
    stringify(
      Object.fromEntries(
        Object.entries(query).map(([name, value]) => [name, Array.isArray(value) ? value.join(',') : value]),
      ),
      { arrayFormat: 'comma', commaRoundTrip: true, encodeValuesOnly: false },
    );

  describe("'1.query-string' and '1.search-body'", () => {
    for (const [name, query] of Object.entries(QUERIES)) {
      it(`${name}: brackets, JSON text and a SEARCH body have the same answer`, async () => {
        const collection = ON[name] ?? 'post';
        const body = await send('SEARCH', collection, { query });
        expect(body.status, body.text).to.equal(200);
        expect(body.text).not.to.match(/^\{"data":\[\]/);
        const forms = {
          // `[]` does not show where an object of a list ends, so lists of objects are sent with indexes.
          brackets: stringify(query, { arrayFormat: JSON.stringify(query).includes('[{') ? 'indices' : 'brackets' }),
          indices: stringify(query, { arrayFormat: 'indices' }),
          json: asJson(query),
          'keys alone not encoded': stringify(query, { encodeValuesOnly: true }),
        };
        for (const [form, search] of Object.entries(forms))
          expect((await get(collection, search)).text, form).to.equal(body.text);
        // The body may have numbers instead of texts.
        const native = { ...query, ...(query.limit ? { limit: Number(query.limit), page: Number(query.page) } : {}) };
        expect((await send('SEARCH', collection, { query: native })).text).to.equal(body.text);
      });
    }

    it('a list may be written with commas, repeated keys, brackets, indexes or as an object keyed by index', async () => {
      const { text } = await send('SEARCH', 'post', { query: { fields: ['id', 'title'], sort: ['-views', 'id'] } });
      for (const search of [
        'fields=id,title&sort=-views,id',
        'fields=id&fields=title&sort=-views&sort=id',
        'fields[]=id&fields[]=title&sort[]=-views&sort[]=id',
        'fields[0]=id&fields[1]=title&sort[0]=-views&sort[1]=id',
        'fields[]=id,title&sort= -views , id ',
        asCsv({ fields: ['id', 'title'], sort: ['-views', 'id'] }),
      ])
        expect((await get('post', search)).text, search).to.equal(text);
      const keyed = { fields: { 0: 'id', 1: 'title' }, sort: { 0: '-views', 1: 'id' } };
      expect((await send('SEARCH', 'post', { query: keyed })).text).to.equal(text);
      const ids = await send('SEARCH', 'post', { query: { fields: 'id', filter: { id: { _in: [1, 3] } } } });
      for (const search of [
        'filter[id][_in]=1,3',
        'filter[id][_in][]=1&filter[id][_in][]=3',
        'filter[id][_in][5]=1&filter[id][_in][9]=3',
      ])
        expect((await get('post', `fields=id&${search}`)).text, search).to.equal(ids.text);
    });

    it('a bracket list above the parser limit arrives keyed by index and is read completely', async () => {
      const list = Array.from({ length: 650 }, (_, at) => `filter[n][_in][${at}]=${at + 1}`).join('&');
      const { status, text } = await get('many', `aggregate[count]=*&${list}`);
      expect([status, text]).to.deep.equal([200, '{"data":[{"count":650}]}']);
    });
  });

  it("'1.bracket-depth': brackets may be nested ten levels, JSON text and bodies as deep as relations", async () => {
    const filter = {
      author: { posts: { author: { posts: { author: { posts: { author: { name: { _eq: 'Ann' } } } } } } } },
    };
    const { status, text } = await send('SEARCH', 'post', { query: { fields: 'id', filter } });
    expect([status, text]).to.deep.equal([200, '{"data":[{"id":1},{"id":3}]}']);
    expect((await get('post', `fields=id&filter=${encodeURIComponent(JSON.stringify(filter))}`)).text).to.equal(text);
    expect((await get('post', stringify({ fields: 'id', filter }))).text).to.equal(text);
    const deeper = stringify({ filter: { author: { posts: { author: { posts: filter } } } } });
    const refused = await get('post', deeper);
    expect([refused.status, JSON.parse(refused.text).errors[0].extensions.code]).to.deep.equal([400, 'INVALID_QUERY']);
  });

  it("'1.search-body': the query of a SEARCH body replaces the query string", async () => {
    const { text } = await send('SEARCH', 'post?fields=title&limit=1', { query: { fields: 'id', filter: { id: 2 } } });
    expect(text).to.equal('{"data":[{"id":2}]}');
  });

  it("'1.search-keys': SEARCH with keys reads these rows under the query string or the query of the body", async () => {
    expect((await send('SEARCH', 'post?fields=id', { keys: [3, 1] })).text).to.equal('{"data":[{"id":3},{"id":1}]}');
    const both = { keys: [3, 1, 2], query: { fields: 'id', filter: { views: { _gt: 15 } } } };
    expect((await send('SEARCH', 'post', both)).text).to.equal('{"data":[{"id":3},{"id":2}]}');
  });

  it("'1.search-empty': SEARCH with an empty body answers the plain list", async () => {
    expect((await send('SEARCH', 'comment', {})).text).to.equal((await send('GET', 'comment')).text);
  });

  it("'1.search-missing-body': SEARCH without a body is refused with INVALID_PAYLOAD", async () => {
    const { status, text } = await send('SEARCH', 'post');
    expect([status, JSON.parse(text).errors[0].extensions.code]).to.deep.equal([400, 'INVALID_PAYLOAD']);
  });

  it("'14.single-read': a single read applies filters, and a key of the wrong type is FORBIDDEN", async () => {
    expect((await get('post/1', 'fields=id&filter[views]=10')).text).to.equal('{"data":{"id":1}}');
    for (const path of ['post/1?filter[views]=11', 'post/x', 'post/99', 'post/1.5', 'post/99999999999999999999']) {
      const { status, text } = await send('GET', path);
      expect([status, JSON.parse(text).errors[0].extensions.code], path).to.deep.equal([403, 'FORBIDDEN']);
    }
  });

  it("'14.singleton-defaults': a singleton without a row is an object of column defaults", async () => {
    expect((await send('GET', 'config?limit=0&page=7')).text).to.equal(
      '{"data":{"id":null,"title":"Plain","flag":true}}',
    );
    expect((await send('GET', 'config?fields=title')).text).to.equal('{"data":{"title":"Plain"}}');
  });
});

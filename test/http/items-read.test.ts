import { expect } from 'chai';
import type { FreshDatabase } from '../support/database.ts';
import { createMigratedDatabase, type InProcessService, startService } from '../support/service.ts';
import { createUserWithPermissions, requestAsAdmin, type TestUserWithToken } from './test-users.ts';

type Row = Record<string, unknown>;

describe('GET /items/<collection>', () => {
  let database: FreshDatabase;
  let service: InProcessService;
  before(async () => {
    database = await createMigratedDatabase('conf_read');
    await database.query(`
      create table country (id serial primary key, code varchar(2) unique not null, name text);
      create table person (id serial primary key, name text, country int references country, home varchar(2) references country (code), boss int references person);
      create table post (id serial primary key, title text, status text, views int, author int references person,
        secret text, hidden text, published timestamptz, sort int);
      create table comment (id serial primary key, body text, post int references post, writer int references person, sort int);
      create table tag (id serial primary key, name text);
      create table post_tag (id serial primary key, post int references post, tag int references tag);
      create table many (id serial primary key, n int);
      create view busy as select author, count(*)::int as posts from post group by author;
      create table config (id serial primary key, title text default 'It''s', number int default 5, flag boolean default true,
        made timestamptz default now(), doc jsonb default '{"a":1}', nothing text);

      insert into country (code, name) values ('de', 'Germany'), ('fr', 'France');
      insert into person (name, country, home, boss) values ('Ann', 1, 'de', null), ('Bob', 2, 'fr', 1), ('Cy', null, null, 2);
      insert into post (title, status, views, author, secret, hidden, published, sort) values
        ('One', 'live', 10, 1, 'x', null, '2024-01-01T00:00:00Z', 3), ('Two', 'draft', 20, 2, null, 'h', null, 2),
        ('Three', 'live', null, null, 'y', null, '2023-06-01T10:00:00Z', 1), ('Four', null, 40, 2, null, null, null, 4);
      insert into comment (body, post, writer, sort) values ('c1', 1, 2, 3), ('c2', 1, 3, 2), ('c3', 1, null, 1), ('c4', 2, 1, 1);
      insert into tag (name) values ('red'), ('blue');
      insert into post_tag (post, tag) values (1, 1), (1, 2), (2, 2);
      insert into many (n) select n from generate_series(1, 1200) n;
    `);
    service = await startService({ database });
    const admin = (method: string, path: string, body: unknown) => requestAsAdmin(service, method, path, body);
    for (const [one, field, many, key, meta] of [
      ['person', 'posts', 'post', 'author', {}],
      ['person', 'team', 'person', 'boss', {}],
      ['country', 'people', 'person', 'country', {}],
      ['post', 'comments', 'comment', 'post', { sort_field: 'sort' }],
      ['post', 'tags', 'post_tag', 'post', { junction_field: 'tag' }],
      ['tag', 'posts', 'post_tag', 'tag', { junction_field: 'post' }],
    ] as const) {
      await admin('POST', `/fields/${one}`, { field, type: 'alias', meta: { special: ['o2m'] } });
      await admin('PATCH', `/relations/${many}/${key}`, { meta: { one_field: field, ...meta } });
    }
    await admin('POST', '/fields/post', { field: 'divider', type: 'alias', meta: { special: ['alias', 'no-data'] } });
    await admin('PATCH', '/fields/post/secret', { meta: { special: ['conceal'] } });
    await admin('PATCH', '/collections/config', { meta: { singleton: true } });
  });
  after(async () => {
    await service?.stop();
    await database?.drop();
  });

  const send = (method: string, path: string, body?: unknown, token: string | null = service.admin.token) =>
    service.request(method, path, { token, body });
  const rows = async (path: string, token = service.admin.token): Promise<Row[]> => {
    const { status, body } = await send('GET', `/items/${path}`, undefined, token);
    expect(status, `${path} ${JSON.stringify(body)}`).to.equal(200);
    return body.data;
  };
  const ids = async (path: string, token?: string) => (await rows(path, token)).map((row) => row.id);
  const filtered = (collection: string, filter: object) =>
    ids(`${collection}?fields=id&filter=${encodeURIComponent(JSON.stringify(filter))}`);
  const refused = async (path: string, status: number, code: string, token?: string) => {
    const reply = await send('GET', path, undefined, token);
    expect([reply.status, reply.body?.errors?.[0].extensions.code], path).to.deep.equal([status, code]);
    return reply.body.errors[0].extensions;
  };

  describe('fields', () => {
    const SHAPES: readonly [query: string, row: Row][] = [
      ['fields=id,title', { id: 1, title: 'One' }],
      ['fields= id , title ', { id: 1, title: 'One' }],
      ['fields[]=id&fields[]=title,views', { id: 1, title: 'One', views: 10 }],
      ['fields[0]=id&fields[1]=title', { id: 1, title: 'One' }],
      ['fields=id&fields=title', { id: 1, title: 'One' }],
      ['fields=author', { author: 1 }],
      ['fields=author.name', { author: { name: 'Ann' } }],
      ['fields=author,author.name', { author: { name: 'Ann' } }],
      ['fields=author.name,author', { author: { name: 'Ann' } }],
      ['fields=author.country.name', { author: { country: { name: 'Germany' } } }],
      ['fields=author.country', { author: { country: 1 } }],
      ['fields=comments', { comments: [3, 2, 1] }],
      ['fields=comments.body', { comments: [{ body: 'c3' }, { body: 'c2' }, { body: 'c1' }] }],
      [
        'fields=comments.writer.name',
        { comments: [{ writer: null }, { writer: { name: 'Cy' } }, { writer: { name: 'Bob' } }] },
      ],
      ['fields=comments.writer', { comments: [{ writer: null }, { writer: 3 }, { writer: 2 }] }],
      ['fields=tags', { tags: [1, 2] }],
      ['fields=tags.tag.name', { tags: [{ tag: { name: 'red' } }, { tag: { name: 'blue' } }] }],
      [
        'fields=tags.tag.posts.post.title',
        {
          tags: [
            { tag: { posts: [{ post: { title: 'One' } }] } },
            { tag: { posts: [{ post: { title: 'One' } }, { post: { title: 'Two' } }] } },
          ],
        },
      ],
      ['fields=divider,id', { id: 1 }],
      ['fields=secret', { secret: '**********' }],
      ['fields=unknown,id', { id: 1 }],
      ['fields=unknown.deeper,title.deeper,id', { id: 1 }],
      ['fields=unknown', {}],
      ['fields=author.unknown', { author: {} }],
      ['fields=__proto__,constructor,id', { id: 1 }],
      ['fields=author.posts.author.posts.title', { author: { posts: [{ author: { posts: [{ title: 'One' }] } }] } }],
      ['alias[who]=author&fields=who.name,title', { who: { name: 'Ann' }, title: 'One' }],
      ['alias[name]=title&fields=name', { name: 'One' }],
      ['alias={"heading":"title"}&fields=heading', { heading: 'One' }],
      [
        'alias[first]=comments&deep[first][_limit]=1&fields=first.body,comments.id',
        { first: [{ body: 'c3' }], comments: [{ id: 3 }, { id: 2 }, { id: 1 }] },
      ],
      ['deep[comments][_limit]=1&deep[comments][_sort]=-body&fields=comments.body', { comments: [{ body: 'c3' }] }],
      [
        'deep[comments][_sort]=body&deep[comments][_offset]=1&fields=comments.body',
        { comments: [{ body: 'c2' }, { body: 'c3' }] },
      ],
      ['deep[comments][_sort]=id&deep[comments][_limit]=2&deep[comments][_page]=2&fields=comments', { comments: [3] }],
      ['deep[comments][_filter][writer][_nnull]=true&fields=comments.id', { comments: [{ id: 2 }, { id: 1 }] }],
      ['deep={"comments":{"_filter":{"writer":{"name":"Cy"}}}}&fields=comments.id', { comments: [{ id: 2 }] }],
      ['deep[comments][_search]=c2&fields=comments.id', { comments: [{ id: 2 }] }],
      ['deep[comments][_limit]=0&fields=comments.id', { comments: [] }],
      ['deep[author][_filter][name][_eq]=Bob&fields=author.name', { author: null }],
      ['deep[author][posts][_limit]=1&fields=author.posts.title', { author: { posts: [{ title: 'One' }] } }],
      ['deep[author][_alias][works]=posts&fields=author.works.title', { author: { works: [{ title: 'One' }] } }],
      ['deep[comments][_limit]=-1&fields=comments', { comments: [3, 2, 1] }],
    ];
    for (const [query, row] of SHAPES) {
      it(`answers ${query}`, async () => {
        expect(await rows(`post?filter[id]=1&${query}`)).to.deep.equal([row]);
        const one = await send('GET', `/items/post/1?${query}`);
        expect(one.body, JSON.stringify(one.body)).to.deep.equal({ data: row });
      });
    }

    it('expands wildcards level by level', async () => {
      const own = {
        id: 1,
        title: 'One',
        status: 'live',
        views: 10,
        secret: '**********',
        hidden: null,
        published: '2024-01-01T00:00:00.000Z',
        sort: 3,
      };
      const plain = { ...own, author: 1, comments: [3, 2, 1], tags: [1, 2] };
      for (const query of ['', 'fields=*', 'fields=', 'limit=1'])
        expect((await rows(`post?${query}`))[0], query).to.deep.equal(plain);
      const [two] = await rows('post?fields=*.*&limit=1');
      expect(two).to.deep.include(own);
      expect(two?.author).to.deep.equal({
        id: 1,
        name: 'Ann',
        country: 1,
        home: 'de',
        boss: null,
        posts: [1],
        team: [2],
      });
      expect(two?.comments).to.deep.include({ id: 1, body: 'c1', post: 1, writer: 2, sort: 3 });
      expect(two?.tags).to.deep.equal([
        { id: 1, post: 1, tag: 1 },
        { id: 2, post: 1, tag: 2 },
      ]);
      const [mixed] = await rows('post?fields=title,*.name&limit=1');
      expect(mixed).to.deep.equal({ title: 'One', author: { name: 'Ann' }, comments: [{}, {}, {}], tags: [{}, {}] });
      const [named] = await rows('post?fields=*,author.name&limit=1');
      expect(named).to.deep.equal({ ...plain, author: { name: 'Ann' } });
      const [alias] = await rows('post?fields=*&alias[again]=title&limit=1');
      expect(alias).to.deep.equal({ ...plain, again: 'One' });
      const [three] = (await rows('post?fields=*.*.*&limit=1')) as { author: Row }[];
      expect(three?.author.country).to.deep.equal({ id: 1, code: 'de', name: 'Germany', people: [1] });
    });

    it('answers null for a to-one and [] for a to-many without related rows', async () => {
      expect(await rows('post?filter[id]=3&fields=author.name,comments.body,tags')).to.deep.equal([
        { author: null, comments: [], tags: [] },
      ]);
    });

    it('reads a foreign key to a column that is no primary key as a plain column', async () => {
      expect(await rows('person?fields=home,home.name&limit=1')).to.deep.equal([{ home: 'de' }]);
      expect(await filtered('person', { home: 'fr' })).to.deep.equal([2]);
      await refused('/items/person?filter[home][name]=France', 403, 'FORBIDDEN');
    });

    it('follows relations of a table to itself in both directions', async () => {
      expect(await rows('person/1?fields=name,team.name,team.team.name,team.boss.name')).to.deep.equal({
        name: 'Ann',
        team: [{ name: 'Bob', team: [{ name: 'Cy' }], boss: { name: 'Ann' } }],
      });
    });

    it('rejects fields that are too deep or too many', async () => {
      await refused(`/items/person?fields=${'boss.'.repeat(11)}name`, 400, 'INVALID_QUERY');
      await refused(`/items/person?fields=${Array(12).fill('*').join('.')}`, 400, 'INVALID_QUERY');
      await refused('/items/post?fields=year(title)', 400, 'INVALID_QUERY');
      await refused('/items/post?fields=year(published', 400, 'INVALID_QUERY');
      await refused('/items/post?fields[a][b]=1', 400, 'INVALID_QUERY');
      await refused('/items/post?alias[a.b]=title', 400, 'INVALID_QUERY');
      await refused('/items/post?alias[a]=author.name', 400, 'INVALID_QUERY');
      await refused('/items/post?alias=5', 400, 'INVALID_QUERY');
      await refused('/items/post?deep=[]', 400, 'INVALID_QUERY');
      await refused('/items/post?deep={', 400, 'INVALID_QUERY');
      await refused('/items/post?deep[comments][_nonsense]=1&fields=comments.id', 400, 'INVALID_QUERY');
      await refused('/items/post?deep[comments][_limit]=-2&fields=comments.id', 400, 'INVALID_QUERY');
      for (const later of ['aggregate[median]=id', 'groupBy=author.name', 'export=pdf', 'version=draft']) {
        await refused(`/items/post?${later}`, 400, 'INVALID_QUERY');
      }
    });
  });

  describe('filter', () => {
    it('accepts lists as commas, brackets, indexes, JSON and objects by index', async () => {
      const long = (name: string) => Array.from({ length: 500 }, (_, at) => `${name}[${at}]=${at + 1}`).join('&');
      expect(await ids('post?fields=id&filter[id][_in]=1,3')).to.deep.equal([1, 3]);
      expect(await ids('post?fields=id&filter[id][_in][]=1&filter[id][_in][]=3')).to.deep.equal([1, 3]);
      expect(await ids('post?fields=id&filter[id][_in][0]=1&filter[id][_in][1]=3')).to.deep.equal([1, 3]);
      expect(await ids('post?fields=id&filter={"id":{"_in":[1,3]}}')).to.deep.equal([1, 3]);
      expect(await ids(`many?fields=id&limit=-1&${long('filter[n][_in]')}`)).to.have.length(500);
      const keyed = (list: readonly unknown[]) => Object.fromEntries(list.map((one, at) => [at, one]));
      const indexed = {
        fields: keyed(['title', 'id']),
        sort: keyed(['-id']),
        filter: { _or: keyed([{ id: { _in: keyed([1, 3]) } }, { id: 2 }]) },
      };
      expect((await send('SEARCH', '/items/post', { query: indexed })).body.data).to.deep.equal([
        { title: 'Three', id: 3 },
        { title: 'Two', id: 2 },
        { title: 'One', id: 1 },
      ]);
      const body = {
        query: { fields: ['id'], limit: -1, filter: { n: { _in: Array.from({ length: 1000 }, (_, at) => at + 1) } } },
      };
      expect((await send('SEARCH', '/items/many', body)).body.data).to.have.length(1000);
    });

    const FINDS: readonly [filter: object, found: readonly number[]][] = [
      [{}, [1, 2, 3, 4]],
      [{ status: 'live' }, [1, 3]],
      [{ status: null }, [4]],
      [{ status: { _eq: 'NULL' } }, [4]],
      [{ status: { _neq: 'NULL' } }, [1, 2, 3]],
      [{ status: { _null: null } }, [4]],
      [{ status: { _null: '' } }, [4]],
      [{ status: { _null: 'false' } }, [1, 2, 3]],
      [{ status: { _neq: 'live' } }, [2]],
      [{ status: { _in: 'live,draft' } }, [1, 2, 3]],
      [{ status: { _nin: ['live'] } }, [2]],
      [{ views: { _gt: 10, _lt: 40 } }, [2]],
      [{ _and: [] }, [1, 2, 3, 4]],
      [{ _or: [] }, [1, 2, 3, 4]],
      [{ _or: [{}] }, [1, 2, 3, 4]],
      [{ _or: [{ id: 1 }, { _and: [{ status: 'live' }, { views: null }] }] }, [1, 3]],
      [{ _or: [{ id: 1 }, { id: 4 }], status: null }, [4]],
      [{ views: { _or: [{ _eq: 10 }, { _eq: 40 }] } }, [1, 4]],
      [{ views: { _between: [10, 20] } }, [1, 2]],
      [{ views: { _between: [10] } }, [1, 2, 3, 4]],
      [{ author: 2 }, [2, 4]],
      [{ author: { _null: true } }, [3]],
      [{ author: { id: 2 } }, [2, 4]],
      [{ author: { id: { _null: true } } }, [3]],
      [{ author: { name: { _eq: 'Bob' } } }, [2, 4]],
      [{ author: { name: { _neq: 'Bob' } } }, [1]],
      [{ author: { _or: [{ name: 'Ann' }, { country: 2 }] } }, [1, 2, 4]],
      [{ author: { _and: [{ name: 'Bob' }, { boss: { name: 'Ann' } }] } }, [2, 4]],
      [{ author: { country: { people: { name: 'Bob' } } } }, [2, 4]],
      [{ comments: { body: 'c1' } }, [1]],
      [{ comments: { body: { _starts_with: 'c' }, writer: { name: 'Cy' } } }, [1]],
      [{ comments: { body: 'c1', writer: { name: 'Cy' } } }, []],
      [{ comments: { _some: { body: 'c4' } } }, [2]],
      [{ comments: { _none: { body: 'c4' } } }, [1, 3, 4]],
      [{ comments: { _none: {} } }, [3, 4]],
      [{ comments: { _null: true } }, [3, 4]],
      [{ comments: { _nnull: true } }, [1, 2]],
      [{ comments: { _eq: 4 } }, [2]],
      [{ comments: { _in: [1, 4] } }, [1, 2]],
      [{ comments: 4 }, [2]],
      [{ tags: { tag: { name: 'blue' } } }, [1, 2]],
      [{ tags: { _none: { tag: { name: 'red' } } } }, [2, 3, 4]],
      [{ tags: { tag: { posts: { post: { title: 'Two' } } } } }, [1, 2]],
      [{ published: { _lt: '2023-12-31' } }, [3]],
      [{ published: { _gte: '2023-06-01T12:00:00+02:00' } }, [1, 3]],
      [{ published: { _lte: '$NOW(-1 day)' } }, [1, 3]],
      [{ secret: { _null: true } }, [2, 4]],
      [{ secret: { _nempty: true } }, [1, 3]],
    ];
    for (const [filter, found] of FINDS) {
      it(`filter ${JSON.stringify(filter)} finds ${JSON.stringify(found)}`, async () => {
        expect(await filtered('post', filter)).to.deep.equal(found);
        const { body } = await send('SEARCH', '/items/post', { query: { filter, fields: ['id'], meta: '*' } });
        expect(body.data.map((row: Row) => row.id)).to.deep.equal(found);
        expect(body.meta).to.deep.equal({ total_count: 4, filter_count: found.length });
      });
    }

    const REFUSES: readonly [filter: unknown, status: number, code: string, path?: readonly (string | number)[]][] = [
      [[], 400, 'INVALID_QUERY', ['filter']],
      [5, 400, 'INVALID_QUERY', ['filter']],
      [{ views: { _eq: '' } }, 400, 'INVALID_QUERY', ['filter', 'views', '_eq']],
      [{ views: { _in: [] } }, 400, 'INVALID_QUERY', ['filter', 'views', '_in']],
      [{ views: { _in: ['1', 'x'] } }, 400, 'INVALID_QUERY', ['filter', 'views', '_in', 1]],
      [{ views: { _starts_with: '1' } }, 400, 'INVALID_QUERY', ['filter', 'views', '_starts_with']],
      [{ views: { nonsense: 1 } }, 403, 'FORBIDDEN'],
      [{ views: [1] }, 400, 'INVALID_QUERY', ['filter', 'views']],
      [{ title: { _some: {} } }, 400, 'INVALID_QUERY', ['filter', 'title', '_some']],
      [{ author: { _some: {} } }, 400, 'INVALID_QUERY', ['filter', 'author', '_some']],
      [{ secret: { _eq: 'x' } }, 400, 'INVALID_QUERY', ['filter', 'secret', '_eq']],
      [{ secret: { _starts_with: 'x' } }, 400, 'INVALID_QUERY'],
      [{ _or: { a: 1 } }, 400, 'INVALID_QUERY'],
      [{ _or: 'x' }, 400, 'INVALID_QUERY', ['filter', '_or']],
      [{ _xor: [] }, 400, 'INVALID_QUERY', ['filter', '_xor']],
      [{ divider: 1 }, 400, 'INVALID_QUERY'],
      [{ author: { unknown: 1 } }, 403, 'FORBIDDEN'],
      [{ id: '$CURRENT_USER.name' }, 403, 'FORBIDDEN'],
      [{ id: '$CURRENT_USER.role.users' }, 400, 'INVALID_QUERY'],
      [{ published: { _lt: 'soon' } }, 400, 'INVALID_QUERY', ['filter', 'published', '_lt']],
    ];
    for (const [filter, status, code, path] of REFUSES) {
      it(`filter ${JSON.stringify(filter)} answers ${status} ${code}`, async () => {
        const extensions = await refused(
          `/items/post?filter=${encodeURIComponent(JSON.stringify(filter))}`,
          status,
          code,
        );
        if (path) expect(extensions.path).to.deep.equal(path);
        expect(Object.keys(extensions).includes('reason')).to.equal(code !== 'FORBIDDEN');
      });
    }
  });

  describe('sort', () => {
    const ORDERS: readonly [query: string, order: readonly number[]][] = [
      ['', [1, 2, 3, 4]],
      ['sort=-id', [4, 3, 2, 1]],
      ['sort=sort', [3, 2, 1, 4]],
      ['sort[]=status&sort[]=-id', [2, 3, 1, 4]],
      ['sort=-sort', [4, 1, 2, 3]],
      ['sort=-author.name,id', [3, 2, 4, 1]],
      ['sort=author.country.name', [2, 4, 1, 3]],
      ['sort=author.boss.name,-id', [4, 2, 3, 1]],
      ['sort=views', [1, 2, 4, 3]],
      ['sort=author', [1, 2, 4, 3]],
      ['sort=comments.body', [1, 2, 3, 4]],
      ['sort=-comments.body', [3, 4, 2, 1]],
      ['sort=-comments.writer.name,id', [1, 3, 4, 2]],
      ['sort=tags.tag.name,-id', [2, 1, 4, 3]],
    ];
    for (const [query, order] of ORDERS) {
      it(`${query || 'no sort'} answers the rows ${JSON.stringify(order)}`, async () => {
        expect(await ids(`post?fields=id&${query}`)).to.deep.equal(order);
        expect(await ids(`post?fields=id,author.name&${query}`)).to.deep.equal(order);
        expect(await ids(`post?fields=id&limit=2&offset=1&${query}`)).to.deep.equal(order.slice(1, 3));
      });
    }

    it('rejects fields that cannot be sorted by', async () => {
      await refused('/items/post?sort=unknown', 403, 'FORBIDDEN');
      await refused('/items/post?sort=author.unknown', 403, 'FORBIDDEN');
      await refused('/items/post?sort=secret', 403, 'FORBIDDEN');
      await refused('/items/post?sort=year(title)', 400, 'INVALID_QUERY');
      await refused('/items/post?sort=title.x', 400, 'INVALID_QUERY');
      await refused('/items/post?sort[a][b]=x', 400, 'INVALID_QUERY');
      await refused(`/items/person?sort=${'boss.'.repeat(11)}id`, 400, 'INVALID_QUERY');
    });

    it('sorts by the sort field of the collection without a sort parameter', async () => {
      await requestAsAdmin(service, 'PATCH', '/collections/post', { meta: { sort_field: 'sort' } });
      expect(await ids('post?fields=id')).to.deep.equal([3, 2, 1, 4]);
      expect(await ids('post?fields=id&sort=id')).to.deep.equal([1, 2, 3, 4]);
      await requestAsAdmin(service, 'PATCH', '/collections/post', { meta: { sort_field: null } });
    });
  });

  describe('limit, offset, page, search and meta', () => {
    const COUNTS: readonly [query: string, first: number | undefined, length: number][] = [
      ['', 1, 100],
      ['limit=0', undefined, 0],
      ['limit=-1', 1, 1200],
      ['limit=', 1, 100],
      ['limit=5&offset=10', 11, 5],
      ['limit=5&page=3', 11, 5],
      ['limit=5&page=3&offset=1', 11, 5],
      ['page=2', 101, 100],
      ['limit=-1&page=7', 1, 1200],
      ['limit=-1&offset=1190', 1191, 10],
      ['limit=10&page=500', undefined, 0],
      ['limit=10&offset=99999999999', undefined, 0],
      ['limit=0&page=3', undefined, 0],
    ];
    for (const [query, first, length] of COUNTS) {
      it(`${query || 'no query'} answers ${length} rows from ${first}`, async () => {
        const found = await rows(`many?fields=n&${query}`);
        expect([found[0]?.n, found.length]).to.deep.equal([first, length]);
      });
    }

    it('rejects invalid pages and limits', async () => {
      for (const query of [
        'limit=-2',
        'limit=1.5',
        'limit=abc',
        'limit=99999999999999999999',
        'offset=-1',
        'offset=x',
        'page=-1',
        'page=x',
        'limit[]=1',
        'limit[a]=1',
      ]) {
        await refused(`/items/many?${query}`, 400, 'INVALID_QUERY');
      }
    });

    const SEARCHES: readonly [term: string, found: readonly number[]][] = [
      ['one', [1]],
      ['O', [1, 2, 4]],
      ['10', [1]],
      ['4', [4]],
      ['20.0', [2]],
      ['live', [1, 3]],
      ['%', []],
      ['_', []],
      ['2024', []],
      ['x', []],
      ['  one ', [1]],
      ['99999999999999999999999999', []],
    ];
    for (const [term, found] of SEARCHES) {
      it(`search ${term} finds ${JSON.stringify(found)}`, async () => {
        const { body } = await send(
          'GET',
          `/items/post?fields=id&meta=filter_count&search=${encodeURIComponent(term)}`,
        );
        expect(body).to.deep.equal({ data: found.map((id) => ({ id })), meta: { filter_count: found.length } });
      });
    }

    it('counts rows without paging, only when requested, and only the requested counts', async () => {
      expect((await send('GET', '/items/many?limit=1&fields=n')).body).to.deep.equal({ data: [{ n: 1 }] });
      expect((await send('GET', '/items/many?limit=1&page=3&fields=n&filter[n][_lte]=10&meta=*')).body).to.deep.equal({
        data: [{ n: 3 }],
        meta: { total_count: 1200, filter_count: 10 },
      });
      for (const meta of ['total_count', '["total_count"]']) {
        expect((await send('GET', `/items/many?limit=0&meta=${meta}`)).body).to.deep.equal({
          data: [],
          meta: { total_count: 1200 },
        });
      }
      expect((await send('GET', '/items/many?limit=0&meta[]=total_count&meta[]=filter_count')).body.meta).to.deep.equal(
        { total_count: 1200, filter_count: 1200 },
      );
      expect(
        (await send('GET', '/items/post?limit=0&meta=*&filter[comments][body][_nnull]=true')).body.meta,
      ).to.deep.equal({ total_count: 4, filter_count: 2 });
    });
  });

  describe('one row, rows by key, singletons, views', () => {
    it('hides a row that the request’s own filter excludes', async () => {
      expect((await send('GET', '/items/post/1?filter[status]=draft')).status).to.equal(403);
      expect((await send('GET', '/items/post/1?fields=id&meta=*')).body).to.deep.equal({ data: { id: 1 } });
      expect((await send('GET', '/items/post/1?filter[status]=live&fields=id&limit=0&page=7')).body).to.deep.equal({
        data: { id: 1 },
      });
    });

    it('SEARCH accepts { query }, { keys }, both and neither', async () => {
      const search = async (body: unknown, url = '') => (await send('SEARCH', `/items/post${url}`, body)).body.data;
      expect(await search({}, '?fields=id&limit=1')).to.deep.equal([{ id: 1 }]);
      expect(await search({ query: { fields: ['id'], limit: 2 } }, '?fields=title&limit=1')).to.deep.equal([
        { id: 1 },
        { id: 2 },
      ]);
      expect(await search({ query: {} }, '?fields=title&limit=1')).to.have.length(4);
      expect(await search({ keys: [4, 2, 99] }, '?fields=id')).to.deep.equal([{ id: 4 }, { id: 2 }]);
      expect(await search({ keys: ['4', 2], query: { fields: 'id', filter: { views: 20 } } })).to.deep.equal([
        { id: 2 },
      ]);
      expect(
        await search({
          query: { fields: ['id'], filter: { status: { _in: ['live'] } }, sort: ['-id'], limit: 1, offset: 1 },
        }),
      ).to.deep.equal([{ id: 1 }]);
      expect(
        await search({
          query: {
            fields: ['author.name'],
            filter: null,
            sort: null,
            limit: 1,
            search: null,
            deep: null,
            alias: null,
            meta: null,
          },
        }),
      ).to.deep.equal([{ author: { name: 'Ann' } }]);
      for (const body of [{ query: 5 }, { query: [] }, { keys: 5 }, { keys: [{}] }, [], { query: { limit: 'x' } }]) {
        expect((await send('SEARCH', '/items/post', body)).status, JSON.stringify(body)).to.equal(400);
      }
    });

    it('reads a singleton without a row as its defaults', async () => {
      expect((await send('GET', '/items/config')).body.data).to.deep.equal({
        id: null,
        title: "It's",
        number: 5,
        flag: true,
        doc: { a: 1 },
      });
      expect(
        (await send('GET', '/items/config?fields=title,nothing&limit=0&filter[number]=9&page=3')).body.data,
      ).to.deep.equal({ title: "It's" });
      expect((await send('SEARCH', '/items/config', { query: { fields: ['number'] } })).body.data).to.deep.equal({
        number: 5,
      });
      expect((await send('GET', '/items/config?meta=*&fields=number')).body).to.deep.equal({
        data: { number: 5 },
        meta: { total_count: 0, filter_count: 0 },
      });
    });

    it('reads a view by filter and in an order, but not by key', async () => {
      expect(await rows('busy?sort=author&filter[author][_nnull]=true')).to.deep.equal([
        { author: 1, posts: 1 },
        { author: 2, posts: 2 },
      ]);
      expect((await send('GET', '/items/busy/1')).status).to.equal(403);
      expect((await send('GET', '/items/busy?meta=*&limit=0')).body.meta).to.deep.equal({
        total_count: 3,
        filter_count: 3,
      });
    });
  });

  it('ignores groups in a read of one row', async () => {
    const { body } = await send('GET', '/items/post/1?fields=id&aggregate[count]=*&groupBy=status&meta=*');
    expect(body).to.deep.equal({ data: { id: 1 } });
    await refused('/items/post/999?aggregate[count]=*', 403, 'FORBIDDEN');
  });

  it('follows a many-to-any to the collection that each row names', async () => {
    await database.query(
      `create table block (id serial primary key, item text, kind text);
      insert into block (item, kind) values ('1', 'post'), ('1', 'tag'), ('99', 'post'), (null, null)`,
    );
    const meta = { one_collection_field: 'kind', one_allowed_collections: ['post', 'tag'] };
    await requestAsAdmin(service, 'POST', '/relations', { collection: 'block', field: 'item', meta });
    const post = (await send('GET', '/items/post/1')).body.data;
    const tag = (await send('GET', '/items/tag/1')).body.data;
    expect(await rows('block?fields=item,kind')).to.deep.equal([
      { item: '1', kind: 'post' },
      { item: '1', kind: 'tag' },
      { item: '99', kind: 'post' },
      { item: null, kind: null },
    ]);
    const shown: readonly [query: string, items: readonly unknown[]][] = [
      ['fields=item.*', [post, tag, null, null]],
      ['fields=item:post.title', [{ title: post.title }, '1', null, null]],
      ['fields=item:post.title,item:tag.name', [{ title: post.title }, { name: tag.name }, null, null]],
      ['fields=item:post', ['1', '1', '99', null]],
      ['fields=item:post.title&deep[item:post][_filter][id]=5', [null, '1', null, null]],
    ];
    for (const [query, items] of shown) {
      expect(
        (await rows(`block?${query}`)).map((row) => row.item),
        query,
      ).to.deep.equal(items);
    }
    expect(await ids(`block?filter[item:post][title]=${encodeURIComponent(post.title)}`)).to.deep.equal([1]);
    expect(await ids('block?sort=-item:tag.name,id')).to.deep.equal([1, 3, 4, 2]);
    await refused('/items/block?filter[item][title]=x', 400, 'INVALID_QUERY');
    await refused('/items/block?sort=item.title', 400, 'INVALID_QUERY');
    await refused('/items/block?filter[item:person][name]=x', 403, 'FORBIDDEN');
  });

  describe('over HTTP', () => {
    it('accepts a trailing slash', async () => {
      expect((await send('GET', '/items/post/?fields=id&limit=1')).body.data).to.deep.equal([{ id: 1 }]);
      expect((await send('GET', '/items/post/1/?fields=id')).body.data).to.deep.equal({ id: 1 });
    });

    it('answers HEAD like GET without the body', async () => {
      const get = await send('GET', '/items/post?fields=id');
      const head = await send('HEAD', '/items/post?fields=id');
      expect([head.status, head.body]).to.deep.equal([200, undefined]);
      for (const name of ['etag', 'content-type', 'content-length'])
        expect(head.headers.get(name), name).to.equal(get.headers.get(name));
      expect((await send('HEAD', '/items/post/99')).status).to.equal(403);
    });

    it('answers 304 to a client with the current entity tag only', async () => {
      const first = await send('GET', '/items/post?fields=id&sort=-id');
      const ask = (tag: string) =>
        service.request('GET', '/items/post?fields=id&sort=-id', {
          token: service.admin.token,
          headers: { 'if-none-match': tag, 'cache-control': 'max-age=0' },
        });
      const again = await ask(first.headers.get('etag') as string);
      expect([again.status, again.body]).to.deep.equal([304, undefined]);
      expect((await ask('"other"')).status).to.equal(200);
    });

    it('sends JSON with its content type, for errors as well', async () => {
      for (const path of ['/items/post', '/items/post/1', '/items/unknown', '/items/post?limit=x']) {
        expect((await send('GET', path)).headers.get('content-type'), path).to.equal('application/json; charset=utf-8');
      }
      const reply = await service.request('POST', '/items/post', {
        token: service.admin.token,
        body: 'title=a',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
      });
      expect([reply.status, reply.body.errors[0].extensions.code]).to.deep.equal([415, 'UNSUPPORTED_MEDIA_TYPE']);
    });

    it('ignores unknown parameters, and accepts access_token as a parameter', async () => {
      expect((await send('GET', '/items/post?fields=id&limit=1&nonsense=1&backlink=false')).body.data).to.deep.equal([
        { id: 1 },
      ]);
      const { body } = await send(
        'GET',
        `/items/post?fields=id&limit=1&access_token=${service.admin.token}`,
        undefined,
        null,
      );
      expect(body.data).to.deep.equal([{ id: 1 }]);
    });

    it('rejects other methods', async () => {
      for (const method of ['PUT', 'POST']) {
        const { status, body } = await send(method, '/items/post/1', {});
        expect([status, body.errors[0].extensions.code], method).to.deep.equal([404, 'ROUTE_NOT_FOUND']);
      }
    });
  });

  describe('under permissions', () => {
    let reader: TestUserWithToken;
    before(async () => {
      reader = await createUserWithPermissions(service, [
        {
          collection: 'post',
          action: 'read',
          fields: ['id', 'title', 'author', 'comments', 'tags', 'secret'],
          permissions: { status: { _eq: 'live' } },
        },
        {
          collection: 'person',
          action: 'read',
          fields: ['id', 'name', 'posts', 'team', 'boss'],
          permissions: { name: { _neq: 'Cy' } },
        },
        {
          collection: 'comment',
          action: 'read',
          fields: ['id', 'body', 'writer'],
          permissions: { body: { _neq: 'c3' } },
        },
        { collection: 'config', action: 'read', fields: ['title'] },
      ]);
    });

    it('applies row rules and field lists at every level', async () => {
      expect(await rows('post', reader.token)).to.deep.equal([
        { id: 1, title: 'One', secret: '**********', author: 1, comments: [2, 1] },
        { id: 3, title: 'Three', secret: '**********', author: null, comments: [] },
      ]);
      expect(await rows('post?fields=*.*&limit=1', reader.token)).to.deep.equal([
        {
          id: 1,
          title: 'One',
          secret: '**********',
          author: { id: 1, name: 'Ann', boss: null, posts: [1], team: [2] },
          comments: [
            { id: 2, body: 'c2', writer: 3 },
            { id: 1, body: 'c1', writer: 2 },
          ],
        },
      ]);
      expect(
        await rows(
          'post?fields=comments.writer.name,comments.post.title,author.country.name,status,views&limit=1',
          reader.token,
        ),
      ).to.deep.equal([{ comments: [{ writer: null }, { writer: { name: 'Bob' } }], author: {} }]);
      expect(await rows('person/1?fields=team.name,team.team.name,posts.title', reader.token)).to.deep.equal({
        team: [{ name: 'Bob', team: [] }],
        posts: [{ title: 'One' }],
      });
    });

    it('counts only readable rows', async () => {
      const { body } = await send('GET', '/items/post?limit=1&fields=id&meta=*&search=three', undefined, reader.token);
      expect(body).to.deep.equal({ data: [{ id: 3 }], meta: { total_count: 2, filter_count: 1 } });
    });

    it('rejects conditions on hidden fields', async () => {
      for (const query of [
        'filter[status]=live',
        'filter[views][_gt]=0',
        'sort=views',
        'sort=author.country',
        'filter[author][country]=1',
        'filter[author][country][name]=x',
        'filter[tags][tag]=1',
        'filter[tags][_none][tag]=1',
        'fields=comments.id&deep[comments][_filter][sort]=1',
        'fields=comments.id&deep[comments][_sort]=sort',
        'alias[a]=views&filter[views]=1',
      ]) {
        await refused(`/items/post?${query}`, 403, 'FORBIDDEN', reader.token);
      }
      for (const query of ['sort=comments.sort', 'sort=tags.tag', 'sort=comments.post.views']) {
        await refused(`/items/post?${query}`, 403, 'FORBIDDEN', reader.token);
      }
      // Sorting sees only rows that the caller may read: the second row has no readable author.
      expect(await ids('comment?fields=id&sort=-writer.name,id', reader.token)).to.deep.equal([2, 1, 4]);
      expect(await ids('post?fields=id&filter[comments][body]=c3', reader.token)).to.deep.equal([]);
      expect(await ids('post?fields=id&filter[comments][_none][body]=c2', reader.token)).to.deep.equal([3]);
      expect(await rows('post?alias[a]=views&fields=a,id&limit=1', reader.token)).to.deep.equal([{ id: 1 }]);
      expect(await ids('person?fields=id&search=Cy', reader.token)).to.deep.equal([]);
      expect(await ids('post?fields=id&search=live', reader.token)).to.deep.equal([]);
    });

    it('answers an unreadable collection, row and key alike', async () => {
      const answers = await Promise.all(
        [
          '/items/tag',
          '/items/unknown',
          '/items/platform_users',
          '/items/post/2',
          '/items/post/99',
          '/items/post/x',
          '/items/post?filter[unknown]=1',
          '/items/post?sort=views',
        ].map((path) => send('GET', path, undefined, reader.token)),
      );
      for (const { status, body } of answers) {
        expect([status, body]).to.deep.equal([
          403,
          { errors: [{ message: "You don't have permission to access this.", extensions: { code: 'FORBIDDEN' } }] },
        ]);
      }
    });

    it('answers only the permitted fields of an absent singleton', async () => {
      expect((await send('GET', '/items/config', undefined, reader.token)).body.data).to.deep.equal({ title: "It's" });
    });

    it('omits unreadable keys from SEARCH', async () => {
      expect(
        (await send('SEARCH', '/items/post?fields=id', { keys: [3, 2, 1] }, reader.token)).body.data,
      ).to.deep.equal([{ id: 3 }, { id: 1 }]);
    });
  });
});

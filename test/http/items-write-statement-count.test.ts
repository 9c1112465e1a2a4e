import { expect } from 'chai';
import { recordStatementsDuring } from '../support/capture-sql-statements.ts';
import type { FreshDatabase } from '../support/database.ts';
import { createMigratedDatabase, type InProcessService, startService } from '../support/service.ts';
import { createUserWithPermissions, requestAsAdmin } from './test-users.ts';

describe('number of statements of a write', () => {
  let database: FreshDatabase;
  let service: InProcessService;
  before(async () => {
    database = await createMigratedDatabase('write_plans');
    await database.query(`
      create table author (id serial primary key, name text not null);
      create table article (id serial primary key, title text, author int references author);
      create table comment (id serial primary key, text text, place int, article int references article);
      create table tag (id serial primary key, name text);
      create table article_tag (id serial primary key, article int references article, tag int references tag);
    `);
    service = await startService({ database });
    for (const [one, field, many, key, meta] of [
      ['author', 'articles', 'article', 'author', {}],
      ['article', 'comments', 'comment', 'article', { sort_field: 'place' }],
      ['article', 'tags', 'article_tag', 'article', { one_deselect_action: 'delete' }],
    ] as const) {
      await requestAsAdmin(service, 'POST', `/fields/${one}`, { field, type: 'alias', meta: { special: ['o2m'] } });
      await requestAsAdmin(service, 'PATCH', `/relations/${many}/${key}`, { meta: { one_field: field, ...meta } });
    }
  });
  beforeEach(() => database.query('truncate author, article, comment, tag, article_tag restart identity cascade'));
  after(async () => {
    await service?.stop();
    await database?.drop();
  });

  const ok = async (method: string, path: string, body?: unknown, token = service.admin.token) => {
    const reply = await service.request(method, path, { token, body });
    expect(reply.status, JSON.stringify(reply.body)).to.be.within(200, 204);
    return reply.body?.data;
  };
  const OWN = /^(begin|commit|rollback)$|"public"\."(author|article|comment|tag|article_tag)"/;
  /** The statements of a write that begin or end its transaction or name a table of this test; others are left out. */
  const during = async (work: () => Promise<unknown>) =>
    (await recordStatementsDuring(work)).filter((text) => OWN.test(text));
  const short = (texts: readonly string[]) =>
    texts.map((text) =>
      /^(?:with .*?(insert into|update|delete from) "public"\."(\w+)"|(\w+))/s
        .exec(text)
        ?.slice(1)
        .filter(Boolean)
        .join(' '),
    );

  it('a row created, changed or deleted takes one statement without a transaction, and one for the answer', async () => {
    expect(short(await during(() => ok('POST', '/items/author', { name: 'A' })))).to.deep.equal([
      'insert into author',
      'select',
    ]);
    expect(short(await during(() => ok('PATCH', '/items/author/1', { name: 'B' })))).to.deep.equal([
      'update author',
      'select',
    ]);
    expect(short(await during(() => ok('DELETE', '/items/author/1')))).to.deep.equal(['delete from author']);
  });

  it('a write under permissions takes as many statements as one by an admin, and none where it is forbidden', async () => {
    const { token } = await createUserWithPermissions(service, [
      { collection: 'author', action: 'create' },
      { collection: 'author', action: 'update', permissions: { name: { _eq: 'mine' } } },
      { collection: 'author', action: 'delete', permissions: { name: { _eq: 'mine' } } },
    ]);
    await ok('POST', '/items/author', [{ name: 'mine' }, { name: 'theirs' }]);
    // The first write of a role also reads its permissions, which are then cached.
    await ok('PATCH', '/items/author/1', { name: 'mine' }, token);
    const allowed = await during(async () => {
      await ok('POST', '/items/author', { name: 'new' }, token);
      await ok('PATCH', '/items/author/1', { name: 'mine' }, token);
      await ok('DELETE', '/items/author/1', undefined, token);
    });
    expect(short(allowed)).to.deep.equal(['insert into author', 'update author', 'delete from author']);
    const refused = await during(async () => {
      for (const [method, body] of [
        ['PATCH', { name: 'x' }],
        ['DELETE', undefined],
      ] as const)
        expect((await service.request(method, '/items/author/2', { token, body })).status).to.equal(403);
      const { body } = await service.request('POST', '/items/author', { token, body: { unknown: 1 } });
      expect(body.errors[0].extensions.code).to.equal('INVALID_PAYLOAD');
    });
    // An unknown field makes the service read the schema again, in a transaction of its own.
    expect(short(refused).filter((one) => !/author|^begin$|^commit$/.test(String(one)))).to.deep.equal([]);
    expect(await database.query('select name from author order by id')).to.deep.equal([
      { name: 'theirs' },
      { name: 'new' },
    ]);
  });

  it('a thousand rows created, changed alike, changed each in its own way, or deleted take one statement', async () => {
    const rows = Array.from({ length: 1000 }, (_, at) => ({ name: `n${at}` }));
    const keys = rows.map((_row, at) => at + 1);
    const statements = await during(async () => {
      expect(await ok('POST', '/items/author', rows)).to.have.length(1000);
      await ok('PATCH', '/items/author?fields=id', { keys, data: { name: 'same' } });
      await ok(
        'PATCH',
        '/items/author?fields=id',
        keys.map((id) => ({ id, name: `own${id}` })),
      );
    });
    expect(short(statements)).to.deep.equal([
      'insert into author',
      'select',
      'update author',
      'select',
      'update author',
      'select',
    ]);
    expect(await database.query('select name from author where id in (7, 1000) order by id')).to.deep.equal([
      { name: 'own7' },
      { name: 'own1000' },
    ]);
    expect(short(await during(() => ok('DELETE', '/items/author', keys)))).to.deep.equal(['delete from author']);
  });

  it('a row that is named five thousand times takes one statement, and its last values count', async () => {
    await ok('POST', '/items/author', { name: 'A' });
    const rows = Array.from({ length: 5000 }, (_, at) => ({ id: at % 2 ? 1 : '1', name: `n${at}` }));
    const statements = await during(() => ok('PATCH', '/items/author?fields=id', rows));
    expect(short(statements)).to.deep.equal(['update author', 'select']);
    expect(await database.query('select name from author')).to.deep.equal([{ name: 'n4999' }]);
    const revisions = await requestAsAdmin(
      service,
      'GET',
      '/revisions?filter[collection]=author&filter[item]=1&limit=-1',
    );
    expect(revisions.at(-1).delta).to.deep.equal({ name: 'n4999' });
  });

  it('the nested rows of a row that is named many times take one statement', async () => {
    await ok('POST', '/items/article', { title: 'a' });
    const rows = Array.from({ length: 300 }, (_, at) => ({ id: 1, comments: { create: [{ text: `c${at}` }] } }));
    const statements = await during(() => ok('PATCH', '/items/article?fields=id', rows));
    expect(statements.length).to.be.at.most(7);
    expect(await database.query('select count(*)::int as n from comment where article = 1')).to.deep.equal([
      { n: 300 },
    ]);
  });

  it('changes of a row named twice stay separate where their nested rows cannot be merged', async () => {
    await ok('POST', '/items/article', { title: 'a' });
    await ok('PATCH', '/items/article?fields=id', [
      { id: 1, author: { name: 'first' } },
      { id: 1, title: 'b', author: { name: 'second' } },
    ]);
    expect(await database.query('select name from author order by id')).to.deep.equal([
      { name: 'first' },
      { name: 'second' },
    ]);
    expect(await database.query('select title, author from article')).to.deep.equal([{ title: 'b', author: 2 }]);
  });

  it('rows that set the same fields take one statement for each set of fields, in any order', async () => {
    const rows = Array.from({ length: 600 }, (_, at) => ({ title: `t${at}` }));
    await ok('POST', '/items/article?fields=id', rows);
    const mixed = rows.map((_row, at) => (at % 2 ? { id: at + 1, title: 'odd' } : { id: at + 1, author: null }));
    const statements = await during(() => ok('PATCH', '/items/article?fields=id', mixed));
    expect(short(statements)).to.deep.equal(['begin', 'update article', 'update article', 'commit', 'select']);
  });

  it('a rule takes one read of the user’s fields and one of the rows it applies to', async () => {
    const { token } = await createUserWithPermissions(service, [
      {
        collection: 'article',
        action: 'update',
        permissions: { title: { _nnull: true } },
        presets: { title: '$CURRENT_USER.email' },
        validation: { title: { _neq: '$CURRENT_USER.role.name' } },
      },
      { collection: 'author', action: 'create' },
    ]);
    await ok(
      'POST',
      '/items/article?fields=id',
      Array.from({ length: 50 }, () => ({ title: 't' })),
    );
    const rows = Array.from({ length: 50 }, (_, at) => ({ id: at + 1, author: { name: `a${at}` } }));
    const all = await recordStatementsDuring(() => ok('PATCH', '/items/article', rows, token));
    const own = all.filter((text) => OWN.test(text));
    expect(own.filter((text) => text.includes('for no key update')).length).to.be.at.most(2);
    expect(all.filter((text) => /platform_users/.test(text)).length).to.be.at.most(6);
    expect(own.length).to.be.at.most(6);
  });

  it('an article with a new author, three new tags through a junction and two new comments takes eight statements', async () => {
    const body = {
      title: 't',
      author: { name: 'A' },
      tags: [{ tag: { name: 'a' } }, { tag: { name: 'b' } }, { tag: { name: 'c' } }],
      comments: [{ text: '1' }, { text: '2' }],
    };
    expect(short(await during(() => ok('POST', '/items/article', body)))).to.deep.equal([
      'begin',
      'insert into author',
      'insert into article',
      'insert into tag',
      'insert into article_tag',
      'insert into comment',
      'commit',
      'select',
    ]);
    // Twenty articles take as many statements as one.
    const many = Array.from({ length: 20 }, () => body);
    expect(await during(() => ok('POST', '/items/article?fields=id', many))).to.have.length(8);
    expect(await database.query('select count(*)::int as n from article_tag')).to.deep.equal([{ n: 63 }]);
  });

  it('rows of all parents are looked up at once, and linked, changed and unlinked at once', async () => {
    await ok('POST', '/items/article', [
      { title: 'a', comments: [{ text: '1' }, { text: '2' }] },
      { title: 'b', comments: [{ text: '3' }, { text: '4' }] },
      { title: 'c' },
    ]);
    const texts = await during(() =>
      ok('PATCH', '/items/article?fields=id', [
        { id: 1, comments: [3, { id: 1, text: 'one' }] },
        { id: 2, comments: [2, { id: 4, text: 'four' }] },
        { id: 3, comments: [{ text: 'new' }] },
      ]),
    );
    // At most nine statements for three articles, their comments, the rows named by key, and the links.
    expect(texts.length).to.be.at.most(9);
    const rows = await database.query('select id, text, article from comment order by id');
    expect(rows.map(({ id, text, article }) => [id, text, article])).to.deep.equal([
      [1, 'one', 1],
      [2, '2', 2],
      [3, '3', 1],
      [4, 'four', 2],
      [5, 'new', 3],
    ]);
  });

  it('the last value counts where a parent is named twice, and where a row is both changed and removed', async () => {
    await ok('POST', '/items/article', [{ title: 'a', comments: [{ text: '1' }, { text: '2' }] }, { title: 'b' }]);
    const linked = async () =>
      (await database.query('select article from comment order by id')).map(({ article }) => article);
    await ok('PATCH', '/items/article?fields=id', [
      { id: 1, comments: [1] },
      { id: 2, comments: [1] },
      { id: '1', comments: [2] },
    ]);
    expect(await linked()).to.deep.equal([2, 1]);
    await ok('PATCH', '/items/article/1', { comments: { update: [{ id: 2, text: 'x' }], delete: [2] } });
    expect(await linked()).to.deep.equal([2, null]);
  });

  it('new rows get positions after the last ones of each parent, which are read by one statement', async () => {
    await ok('POST', '/items/article', [
      { title: 'a', comments: { create: [{ text: '1' }, { text: '2' }] } },
      { title: 'b', comments: { create: [{ text: '3' }] } },
    ]);
    const texts = await during(() =>
      ok('PATCH', '/items/article?fields=id', [
        { id: 1, comments: { create: [{ text: '4' }, { text: '5', place: 9 }, { text: '6' }] } },
        { id: 2, comments: { create: [{ text: '7' }] } },
      ]),
    );
    expect(texts.filter((text) => /max\(/.test(text))).to.have.length(1);
    expect(texts.filter((text) => /insert into "public"\."comment"/.test(text))).to.have.length(1);
    const rows = await database.query<{ text: string; place: number }>('select text, place from comment order by id');
    expect(rows.map(({ text, place }) => `${text}:${place}`)).to.deep.equal([
      '1:1',
      '2:2',
      '3:1',
      '4:3',
      '5:9',
      '6:4',
      '7:2',
    ]);
  });

  it('statements are prepared from their second use on', async () => {
    for (let at = 0; at < 3; at++) await ok('POST', '/items/tag', { name: 'a' });
    const names = await recordStatementsDuring(async () => {
      for (let at = 0; at < 3; at++) await ok('PATCH', '/items/tag/1', { name: `b${at}` });
    });
    expect(new Set(names.filter((text) => /^with .*update "public"/s.test(text))).size).to.equal(1);
    await database.query('alter table tag add column more int');
    await ok('PATCH', '/items/tag/1', { name: 'after the table changed' });
    await ok('PATCH', '/items/tag/1', { more: 5 });
    expect(await database.query('select name, more from tag where id = 1')).to.deep.equal([
      { name: 'after the table changed', more: 5 },
    ]);
  });

  it('a row named twice counts once, and its changes apply in the order of the request', async () => {
    await ok('POST', '/items/tag', [{ name: 'a' }, { name: 'b' }]);
    await ok('PATCH', '/items/tag', [
      { id: 1, name: 'first' },
      { id: 2, name: 'other' },
      { id: '01', name: 'last' },
    ]);
    expect(await database.query('select name from tag order by id')).to.deep.equal([
      { name: 'last' },
      { name: 'other' },
    ]);
  });

  it('a row that two parents name by the same new key is created once', async () => {
    await ok('POST', '/items/article', [
      { title: 'a', author: { id: 50, name: 'New' } },
      { title: 'b', author: { id: 50, name: 'Newer' } },
    ]);
    expect(await database.query('select id, name from author')).to.deep.equal([{ id: 50, name: 'Newer' }]);
    expect(await database.query('select author from article')).to.deep.equal([{ author: 50 }, { author: 50 }]);
  });

  it('an invalid value among many rows is reported with its path', async () => {
    await database.query('create table narrow (id serial primary key, level smallint, word varchar(3) unique)');
    await ok('POST', '/items/narrow', [{ word: 'a' }, { word: 'b' }, { word: 'c' }]);
    for (const [body, expected] of [
      [
        [
          { id: 1, level: 1 },
          { id: 2, level: 70000 },
        ],
        { code: 'VALUE_OUT_OF_RANGE', field: 'level', path: [1, 'level'] },
      ],
      [
        [
          { id: 1, word: 'x' },
          { id: 2, word: 'c' },
        ],
        { code: 'RECORD_NOT_UNIQUE', field: 'word', path: [1, 'word'] },
      ],
      [
        [
          { id: 1, word: 'x' },
          { id: 2, word: 'long' },
        ],
        { code: 'VALUE_TOO_LONG', field: 'word', path: [1, 'word'] },
      ],
    ] as const) {
      const reply = await service.request('PATCH', '/items/narrow', { token: service.admin.token, body });
      expect(reply.body.errors?.[0].extensions).to.deep.include(expected);
    }
    expect(await database.query('select word, level from narrow order by id')).to.deep.equal([
      { word: 'a', level: null },
      { word: 'b', level: null },
      { word: 'c', level: null },
    ]);
  });
});

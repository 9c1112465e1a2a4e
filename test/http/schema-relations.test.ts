import { expect } from 'chai';
import type { FreshDatabase } from '../support/database.ts';
import { createMigratedDatabase, type HttpReply, type InProcessService, startService } from '../support/service.ts';
import { requestAsAdmin } from './test-users.ts';

const refusal = ({ status, body }: HttpReply) => [status, body?.errors?.[0]?.extensions?.code];
const INVALID = [400, 'INVALID_PAYLOAD'];
const ABSENT = [404, 'ROUTE_NOT_FOUND'];

describe('/relations', () => {
  let database: FreshDatabase;
  let service: InProcessService;
  before(async () => {
    database = await createMigratedDatabase('sdk_relations');
    await database.query(`
      create table maker (id serial primary key, name text);
      create table thing (id serial primary key, name text, maker int not null references maker on delete cascade);
    `);
    service = await startService({ database });
  });
  after(async () => {
    await service?.stop();
    await database?.drop();
  });

  const send = (method: string, path: string, body?: unknown, token: string | null = service.admin.token) =>
    service.request(method, path, { token, body });
  const admin = (method: string, path: string, body?: unknown) => requestAsAdmin(service, method, path, body);
  let created = 0;
  const table = async (...fields: unknown[]): Promise<string> => {
    const collection = `r${++created}`;
    await admin('POST', '/collections', { collection, schema: {}, fields });
    return collection;
  };
  const string = (field: string) => ({ field, type: 'string' });
  const integer = (field: string, schema: object = {}) => ({ field, type: 'integer', schema });
  const alias = (collection: string, field: string, special = 'o2m') =>
    admin('POST', `/fields/${collection}`, { field, type: 'alias', meta: { special: [special] } });
  const relate = (collection: string, field: string, related: string | null, meta?: object, schema?: object) =>
    admin('POST', '/relations', {
      collection,
      field,
      related_collection: related,
      ...(meta && { meta }),
      ...(schema && { schema }),
    });
  const constraintsOf = (name: string) =>
    database.query<{ name: string; on_delete: string }>(
      `select conname as name, confdeltype as on_delete from pg_constraint where contype = 'f' and conrelid = to_regclass($1) order by 1`,
      [name],
    );
  const indexesOf = async (name: string) =>
    (await database.query<{ def: string }>('select indexdef as def from pg_indexes where tablename = $1', [name])).map(
      ({ def }) => def,
    );

  describe('POST /relations', () => {
    it('a relation gets a foreign key and an index, with or without schema', async () => {
      const one = await table(string('name'));
      const many = await table(integer('one'));
      const relation = await relate(many, 'one', one);
      expect(relation).to.deep.equal({
        collection: many,
        field: 'one',
        related_collection: one,
        schema: {
          constraint_name: `${many}_one_foreign`,
          table: many,
          column: 'one',
          foreign_key_schema: 'public',
          foreign_key_table: one,
          foreign_key_column: 'id',
          on_update: 'NO ACTION',
          on_delete: 'SET NULL',
        },
        meta: null,
      });
      expect(await constraintsOf(many)).to.deep.equal([{ name: `${many}_one_foreign`, on_delete: 'n' }]);
      expect((await indexesOf(many)).some((def) => def.endsWith('(one, id)'))).to.equal(true);
      expect(await admin('GET', `/relations/${many}/one`)).to.deep.equal(relation);
      expect(await admin('GET', `/relations/${many}`)).to.deep.equal([relation]);
      expect(await admin('GET', '/relations')).to.deep.include(relation);
      expect((await admin('GET', `/fields/${many}/one`)).schema).to.include({
        foreign_key_schema: 'public',
        foreign_key_table: one,
        foreign_key_column: 'id',
        is_indexed: true,
      });
      expect((await send('POST', `/items/${many}`, { one: 5 })).body.errors[0].extensions).to.include({
        code: 'INVALID_FOREIGN_KEY',
        collection: many,
        field: 'one',
      });
    });

    it('meta is stored, and both ends show the relation', async () => {
      const one = await table();
      const many = await table(integer('one'), integer('rank'));
      await alias(one, 'many');
      const meta = { one_field: 'many', sort_field: 'rank', one_deselect_action: 'delete', junction_field: null };
      const relation = await relate(many, 'one', one, meta, { on_delete: 'CASCADE' });
      expect(relation.meta).to.deep.include({ ...meta, many_collection: many, many_field: 'one', one_collection: one });
      expect(relation.schema.on_delete).to.equal('CASCADE');
    });

    it('an impossible relation is rejected with INVALID_PAYLOAD, and no foreign key is created', async () => {
      const one = await table(string('name'));
      const many = await table(
        integer('one'),
        string('text'),
        integer('filled', { is_nullable: false, default_value: 0 }),
      );
      await relate(many, 'one', one);
      for (const [body, why] of [
        [{ field: 'text', related_collection: one }, 'no collection'],
        [{ collection: many, related_collection: one }, 'no field'],
        [{ collection: many, field: 'nothing', related_collection: one }, 'no such field'],
        [{ collection: 'nowhere', field: 'one', related_collection: one }, 'no such collection'],
        [{ collection: many, field: 'id', related_collection: one }, 'the key'],
        [{ collection: many, field: 'one', related_collection: one }, 'related already'],
        [{ collection: many, field: 'filled', related_collection: 'nowhere' }, 'nothing to relate to'],
        [{ collection: many, field: 'text', related_collection: one }, 'types that differ'],
        [
          { collection: many, field: 'filled', related_collection: one, schema: { on_delete: 'SET NULL' } },
          'never null',
        ],
        [{ collection: many, field: 'filled', related_collection: one, schema: { on_delete: 'EXPLODE' } }, 'no rule'],
        [
          { collection: many, field: 'filled', related_collection: one, meta: { one_field: 'name' } },
          'a column as alias',
        ],
        [
          { collection: many, field: 'filled', related_collection: one, meta: { one_deselect_action: 'x' } },
          'no action',
        ],
        [{ collection: many, field: 'text', related_collection: null }, 'any, without its fields'],
        [{ collection: 'platform_users', field: 'role', related_collection: one }, 'the service\u2019s'],
        [[], 'a list'],
      ] as const) {
        expect(refusal(await send('POST', '/relations', body)), why).to.deep.equal(INVALID);
      }
      expect(await constraintsOf(many)).to.have.length(1);
      expect(await admin('GET', `/relations/${many}`)).to.have.length(1);
    });

    it('a relation is rejected with INVALID_FOREIGN_KEY where values refer to missing rows', async () => {
      const one = await table();
      const many = await table(integer('one'));
      await admin('POST', `/items/${many}`, { one: 7 });
      expect(
        (await send('POST', '/relations', { collection: many, field: 'one', related_collection: one })).body.errors[0]
          .extensions.code,
      ).to.equal('INVALID_FOREIGN_KEY');
      expect(await admin('GET', `/relations/${many}`)).to.deep.equal([]);
    });
  });

  describe('PATCH and DELETE /relations', () => {
    it('PATCH changes referential actions and meta, and the record sent back changes nothing', async () => {
      const one = await table();
      const many = await table(integer('one'));
      await alias(one, 'many');
      const relation = await relate(many, 'one', one);
      expect(await admin('PATCH', `/relations/${many}/one`, relation)).to.deep.equal(relation);
      const changed = await admin('PATCH', `/relations/${many}/one`, {
        meta: { one_field: 'many' },
        schema: { on_delete: 'CASCADE', on_update: 'CASCADE' },
      });
      expect([changed.meta.one_field, changed.schema.on_delete, changed.schema.on_update]).to.deep.equal([
        'many',
        'CASCADE',
        'CASCADE',
      ]);
      expect(await constraintsOf(many)).to.deep.equal([{ name: `${many}_one_foreign`, on_delete: 'c' }]);
      expect(await admin('PATCH', `/relations/${many}/one`, changed)).to.deep.equal(changed);
      expect(refusal(await send('PATCH', `/relations/${many}/one`, { related_collection: many }))).to.deep.equal(
        INVALID,
      );
      expect(refusal(await send('PATCH', `/relations/${many}/nothing`, { meta: {} }))).to.deep.equal(ABSENT);
      expect(
        refusal(await send('PATCH', '/relations/platform_users/role', { meta: { one_field: 'x' } })),
      ).to.deep.equal(INVALID);
    });

    it('DELETE drops the foreign key and keeps column and values', async () => {
      const one = await table();
      const many = await table(integer('one'));
      await alias(one, 'many');
      await relate(many, 'one', one, { one_field: 'many' });
      await admin('POST', `/items/${one}`, { many: [{}] });
      const reply = await send('DELETE', `/relations/${many}/one`);
      expect([reply.status, reply.body]).to.deep.equal([204, undefined]);
      expect(await constraintsOf(many)).to.deep.equal([]);
      expect(await admin('GET', `/items/${many}`)).to.deep.equal([{ id: 1, one: 1 }]);
      expect(await admin('PATCH', `/items/${many}/1`, { one: 99 })).to.deep.equal({ id: 1, one: 99 });
      expect((await send('GET', `/items/${one}`)).status).to.equal(200);
      expect(refusal(await send('DELETE', `/relations/${many}/one`))).to.deep.equal(ABSENT);
      expect(refusal(await send('DELETE', '/relations/platform_users/role'))).to.deep.equal(INVALID);
    });

    it('DELETE of the key field deletes relation and alias, and DELETE of the alias keeps the key field', async () => {
      const one = await table();
      const many = await table(integer('one'), integer('other'));
      await alias(one, 'many');
      await alias(one, 'others');
      await relate(many, 'one', one, { one_field: 'many' });
      await relate(many, 'other', one, { one_field: 'others' });
      await admin('DELETE', `/fields/${many}/one`);
      expect((await send('GET', `/fields/${one}/many`)).status).to.equal(404);
      expect((await send('GET', `/relations/${many}/one`)).status).to.equal(404);
      await admin('DELETE', `/fields/${one}/others`);
      expect((await admin('GET', `/relations/${many}/other`)).meta.one_field).to.equal(null);
      expect((await send('POST', `/items/${many}`, { other: 1 })).body.errors[0].extensions.code).to.equal(
        'INVALID_FOREIGN_KEY',
      );
    });
  });

  describe('on_delete', () => {
    for (const [rule, expected] of [
      ['SET NULL', [{ id: 1, one: null }]],
      ['CASCADE', []],
      ['RESTRICT', 'INVALID_FOREIGN_KEY'],
      ['NO ACTION', 'INVALID_FOREIGN_KEY'],
      ['SET DEFAULT', [{ id: 1, one: 2 }]],
    ] as const) {
      it(`the delete of a row with ${rule} ${typeof expected === 'string' ? `fails with ${expected}` : `leaves ${JSON.stringify(expected)} on the other side`}`, async () => {
        const one = await table();
        const many = await table(integer('one', { default_value: 2 }));
        await relate(many, 'one', one, undefined, { on_delete: rule });
        await admin('POST', `/items/${one}`, [{}, {}]);
        await admin('POST', `/items/${many}`, { one: 1 });
        const reply = await send('DELETE', `/items/${one}/1`);
        if (typeof expected === 'string') {
          expect(refusal(reply)).to.deep.equal([400, expected]);
          expect(await admin('GET', `/items/${one}`)).to.have.length(2);
        } else {
          expect(reply.status).to.equal(204);
          expect(await admin('GET', `/items/${many}`)).to.deep.equal(expected);
        }
      });
    }
  });

  describe('relations created through the API only', () => {
    it('many-to-one and one-to-many relations have nested reads and writes', async () => {
      const author = await table(string('name'));
      const book = await table(string('title'), integer('author'));
      await alias(author, 'books');
      await relate(book, 'author', author, { one_field: 'books' });
      const ann = await admin('POST', `/items/${author}?fields=*,books.*`, {
        name: 'Ann',
        books: [{ title: 'a' }, { title: 'b' }],
      });
      expect(ann).to.deep.equal({
        id: 1,
        name: 'Ann',
        books: [
          { id: 1, title: 'a', author: 1 },
          { id: 2, title: 'b', author: 1 },
        ],
      });
      expect(await admin('GET', `/items/${author}/1`)).to.deep.equal({ id: 1, name: 'Ann', books: [1, 2] });
      const bob = await admin('POST', `/items/${book}?fields=title,author.name,author.books.title`, {
        title: 'c',
        author: { name: 'Bob' },
      });
      expect(bob).to.deep.equal({ title: 'c', author: { name: 'Bob', books: [{ title: 'c' }] } });
      expect(await admin('GET', `/items/${author}?filter[books][title][_eq]=c&fields=name`)).to.deep.equal([
        { name: 'Bob' },
      ]);
      expect(await admin('GET', `/items/${book}?filter[author][name][_eq]=Ann&fields=title&sort=-title`)).to.deep.equal(
        [{ title: 'b' }, { title: 'a' }],
      );
      const detailed = await admin('PATCH', `/items/${author}/1?fields=books.title`, {
        books: { create: [{ title: 'd' }], update: [{ id: 1, title: 'A' }], delete: [2] },
      });
      expect(detailed.books).to.deep.equal([{ title: 'A' }, { title: 'd' }]);
    });

    it('a foreign key of the database gets its alias by PATCH of the relation', async () => {
      const [relation] = await admin('GET', '/relations/thing');
      expect([relation.related_collection, relation.meta, relation.schema.on_delete]).to.deep.equal([
        'maker',
        null,
        'CASCADE',
      ]);
      await alias('maker', 'things');
      await admin('PATCH', '/relations/thing/maker', { meta: { one_field: 'things', one_deselect_action: 'delete' } });
      await admin('POST', '/items/maker', { name: 'm', things: [{ name: 'x' }, { name: 'y' }] });
      expect(await admin('PATCH', '/items/maker/1?fields=things.name', { things: [2] })).to.deep.equal({
        things: [{ name: 'y' }],
      });
      expect(await database.query('select name from thing')).to.deep.equal([{ name: 'y' }]);
    });

    it('a many-to-many relation works through its junction', async () => {
      const article = await table(string('title'));
      const tag = await table(string('name'));
      const junction = await table(integer('article'), integer('tag'), integer('rank'));
      await alias(article, 'tags', 'm2m');
      await alias(tag, 'articles', 'm2m');
      await relate(
        junction,
        'article',
        article,
        { one_field: 'tags', junction_field: 'tag', sort_field: 'rank' },
        { on_delete: 'CASCADE' },
      );
      await relate(
        junction,
        'tag',
        tag,
        { one_field: 'articles', junction_field: 'article' },
        { on_delete: 'CASCADE' },
      );
      const one = await admin('POST', `/items/${article}?fields=title,tags.id,tags.tag.name`, {
        title: 't',
        tags: [{ tag: { name: 'new' } }, { tag: { name: 'other' } }],
      });
      expect(one).to.deep.equal({
        title: 't',
        tags: [
          { id: 1, tag: { name: 'new' } },
          { id: 2, tag: { name: 'other' } },
        ],
      });
      await admin('POST', `/items/${article}`, { title: 'u', tags: [{ tag: 1 }] });
      expect(await admin('GET', `/items/${tag}/1?fields=name,articles.article.title`)).to.deep.equal({
        name: 'new',
        articles: [{ article: { title: 't' } }, { article: { title: 'u' } }],
      });
      expect(await admin('GET', `/items/${article}?filter[tags][tag][name][_eq]=other&fields=title`)).to.deep.equal([
        { title: 't' },
      ]);
      // A bare key in the list is the key of a junction row, not of a tag.
      const kept = await admin('PATCH', `/items/${article}/1?fields=tags.tag.name`, { tags: [2] });
      expect(kept.tags).to.deep.equal([{ tag: { name: 'other' } }]);
      const detailed = await admin('PATCH', `/items/${article}/1?fields=tags.tag.name`, {
        tags: { create: [{ tag: { name: 'third' } }], update: [], delete: [2] },
      });
      expect(detailed.tags).to.deep.equal([{ tag: { name: 'third' } }]);
      expect(await admin('GET', `/items/${tag}?fields=name`)).to.have.length(3);
      await admin('DELETE', `/items/${tag}/1`);
      expect((await admin('GET', `/items/${article}/2`)).tags).to.deep.equal([]);
    });

    it('sort_field orders the children, and new children are last', async () => {
      const list = await table(string('name'));
      const entry = await table(string('name'), integer('list'), integer('rank'));
      await alias(list, 'entries');
      await relate(entry, 'list', list, { one_field: 'entries', sort_field: 'rank' });
      await admin('POST', `/items/${list}`, {
        entries: [
          { name: 'b', rank: 2 },
          { name: 'a', rank: 1 },
          { name: 'c', rank: 3 },
        ],
      });
      const of = async () =>
        (await admin('GET', `/items/${list}/1?fields=entries.name`)).entries
          .map((one: { name: string }) => one.name)
          .join('');
      expect(await of()).to.equal('abc');
      await admin('PATCH', `/items/${list}/1`, {
        entries: { create: [{ name: 'd' }, { name: 'e' }], update: [], delete: [] },
      });
      expect(await of()).to.equal('abcde');
      expect(await admin('GET', `/items/${entry}?fields=rank&sort=id`)).to.deep.equal(
        [2, 1, 3, 4, 5].map((rank) => ({ rank })),
      );
    });

    it('a relation to the same collection makes a tree', async () => {
      const page = await table(string('name'), integer('parent'));
      await alias(page, 'children');
      await relate(page, 'parent', page, { one_field: 'children' });
      await admin('POST', `/items/${page}`, {
        name: 'root',
        children: [{ name: 'a', children: [{ name: 'aa' }] }, { name: 'b' }],
      });
      expect(
        await admin(
          'GET',
          `/items/${page}?filter[parent][_null]=true&fields=name,children.name,children.children.name,children.parent.name`,
        ),
      ).to.deep.equal([
        {
          name: 'root',
          children: [
            { name: 'a', children: [{ name: 'aa' }], parent: { name: 'root' } },
            { name: 'b', children: [], parent: { name: 'root' } },
          ],
        },
      ]);
      expect((await send('DELETE', `/collections/${page}`)).status).to.equal(204);
    });

    it('a translations field reads and writes one row for each language', async () => {
      await admin('POST', '/collections', {
        collection: 'languages',
        schema: {},
        fields: [{ field: 'code', type: 'string', schema: { is_primary_key: true, max_length: 10 } }, string('name')],
      });
      await admin('POST', '/items/languages', [
        { code: 'en', name: 'English' },
        { code: 'de', name: 'Deutsch' },
      ]);
      const item = await table();
      const texts = await table(
        integer('item'),
        { field: 'language', type: 'string', schema: { max_length: 10 } },
        string('title'),
      );
      await alias(item, 'translations', 'translations');
      await relate(
        texts,
        'item',
        item,
        { one_field: 'translations', junction_field: 'language' },
        { on_delete: 'CASCADE' },
      );
      await relate(texts, 'language', 'languages', { junction_field: 'item' });
      const one = await admin('POST', `/items/${item}?fields=id,translations.title,translations.language.name`, {
        translations: [
          { language: 'en', title: 'Hello' },
          { language: { code: 'de' }, title: 'Hallo' },
        ],
      });
      expect(one).to.deep.equal({
        id: 1,
        translations: [
          { title: 'Hello', language: { name: 'English' } },
          { title: 'Hallo', language: { name: 'Deutsch' } },
        ],
      });
      expect(await admin('GET', `/items/${item}?filter[translations][title][_eq]=Hallo&fields=id`)).to.deep.equal([
        { id: 1 },
      ]);
      expect(
        await admin('GET', `/items/${item}/1?fields=translations.title&deep[translations][_filter][language][_eq]=de`),
      ).to.deep.equal({ translations: [{ title: 'Hallo' }] });
    });

    it('a many-to-any relation is stored without a foreign key', async () => {
      const [a, b] = [await table(), await table()];
      const block = await table(string('item'), string('collection'));
      const relation = await relate(block, 'item', null, {
        one_collection_field: 'collection',
        one_allowed_collections: [a, b],
        junction_field: null,
      });
      expect(relation).to.deep.include({ related_collection: null, schema: null });
      expect(relation.meta).to.deep.include({ one_collection_field: 'collection', one_allowed_collections: [a, b] });
      expect(await constraintsOf(block)).to.deep.equal([]);
      expect((await send('GET', `/items/${block}`)).status).to.equal(200);
      const changed = await admin('PATCH', `/relations/${block}/item`, { meta: { one_allowed_collections: [a] } });
      expect(changed.meta.one_allowed_collections).to.deep.equal([a]);
    });

    it('two collections that refer to each other can be deleted one after the other', async () => {
      const one = await table(integer('other'));
      const two = await table(integer('other'));
      await relate(one, 'other', two);
      await relate(two, 'other', one);
      await admin('POST', `/items/${one}`, { other: { other: 1 } }).catch(() => {});
      expect((await send('DELETE', `/collections/${one}`)).status).to.equal(204);
      expect((await admin('GET', `/fields/${two}`)).map((field: { field: string }) => field.field)).to.deep.equal([
        'id',
      ]);
      expect((await send('DELETE', `/collections/${two}`)).status).to.equal(204);
    });
  });

  it('an unknown relation is 404', async () => {
    for (const path of [
      '/relations/nowhere',
      '/relations/nowhere/a',
      '/relations/maker/name',
      '/relations/__proto__',
      '/relations/maker/constructor',
    ]) {
      expect(refusal(await send('GET', path)), path).to.deep.equal(ABSENT);
    }
  });
});

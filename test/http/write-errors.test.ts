import { expect } from 'chai';
import { recordStatementsDuring } from '../support/capture-sql-statements.ts';
import type { FreshDatabase } from '../support/database.ts';
import { createMigratedDatabase, type InProcessService, startService } from '../support/service.ts';
import { createUserWithPermissions, requestAsAdmin, type TestUserWithToken } from './test-users.ts';

/** A written value that no error may contain. In number fields the tests write 990099 instead. */
const SECRET = 's3cret';

const TABLES = `
  create type mood as enum ('glad', 'sad');
  create domain sku as text check (value ~ '^[A-Z]{3}$');
  create domain narrow_sku as sku check (length(value) < 10);
  create table maker (id serial primary key, name varchar(10) not null);
  create table product (
    id serial primary key, title text not null unique, mood mood, price numeric(6,2) constraint fair_price check (price > 0),
    low int, high int, constraint in_order check (low < high),
    code sku, other_code narrow_sku, stock smallint, created_at date, uid uuid, maker int references maker, up int references product,
    region text, slot text, unique (region, slot), during int4range, exclude using gist (during with &&), list mood[], big bigint);
  create table review (id serial primary key, body text check (length(body) < 20), note varchar(5), product int references product,
    author int references maker on delete restrict);
  create table hidden_link (id serial primary key, hidden_maker int references maker);
  create table named (name text primary key);
  create table naming (id serial primary key, name text references named);
  create table later (id serial primary key, name text, up int references later deferrable initially deferred);
  create table traced (id serial primary key, n int, secret text default 'abc', constraint fits_secret check (n < length(secret)));
  create table guarded (id serial primary key, n int);
  create function guard() returns trigger language plpgsql as $$ begin
    if new.n = 14 then raise exception 'fourteen is taken'; end if; return new; end $$;
  create trigger guard before insert or update on guarded for each row execute function guard();
  create table parted (id int primary key, n int check (n > 0)) partition by range (id);
  create table parted_low partition of parted for values from (0) to (1000);
  insert into maker (name) values ('one'), ('two'), ('three'), ('four');
  insert into product (title, region, slot, during) values ('first', 'n', '1', '[1,5)'), ('second', 's', '2', '[5,9)');
  insert into review (body, author) values ('fine', 3);
  insert into hidden_link (hidden_maker) values (4);
`;

type Expected = Readonly<Record<string, unknown>>;

describe('error extensions of a rejected write', () => {
  let database: FreshDatabase;
  let service: InProcessService;
  let writer: TestUserWithToken;
  before(async function () {
    this.timeout(120_000);
    database = await createMigratedDatabase('write_errors');
    await database.query(TABLES);
    service = await startService({ database });
    const admin = (method: string, path: string, body: unknown) => requestAsAdmin(service, method, path, body);
    await admin('POST', '/fields/product', { field: 'reviews', type: 'alias', meta: { special: ['o2m'] } });
    await admin('PATCH', '/relations/review/product', { meta: { one_field: 'reviews' } });
    writer = await createUserWithPermissions(service, [
      { collection: 'traced', action: 'create', fields: ['n'] },
      { collection: 'traced', action: 'read', fields: ['id', 'n'] },
      { collection: 'maker', action: 'delete' },
      { collection: 'maker', action: 'read', fields: ['id'] },
      { collection: 'review', action: 'read', fields: ['id', 'author'] },
      { collection: 'product', action: 'create', fields: ['title', 'price'] },
    ]);
  });
  after(async () => {
    await service?.stop();
    await database?.drop();
  });

  const send = (method: string, path: string, body: unknown, token = service.admin.token) =>
    service.request(method, path, { token, body });
  /** All rows of all tables, to check that a rejected write changes nothing. */
  const contents = async () =>
    (
      await database.query(`select (select json_agg(p order by id) from product p)::text as product,
        (select json_agg(p order by id) from maker p)::text as maker, (select json_agg(p order by id) from review p)::text as review,
        (select count(*) from later)::text || (select count(*) from guarded) || (select count(*) from parted) || (select count(*) from traced) as others,
        (select count(*) from platform_activity)::text as activity`)
    )[0];

  const product = '/items/product';
  const CASES: readonly [what: string, method: string, path: string, body: unknown, expected: Expected][] = [
    [
      'an unknown enum value',
      'POST',
      product,
      { title: 'x', mood: SECRET },
      { code: 'INVALID_PAYLOAD', collection: 'product', field: 'mood', path: ['mood'], allowed: ['glad', 'sad'] },
    ],
    [
      'an unknown enum value, in a list of rows',
      'POST',
      product,
      [
        { title: 'x', mood: 'sad' },
        { title: 'y', mood: 'glad' },
        { title: 'z', mood: SECRET },
      ],
      { code: 'INVALID_PAYLOAD', field: 'mood', path: [2, 'mood'], allowed: ['glad', 'sad'] },
    ],
    [
      'an unknown enum value, in a list of changes',
      'PATCH',
      product,
      [
        { id: 1, mood: 'sad' },
        { id: 2, mood: SECRET },
      ],
      { code: 'INVALID_PAYLOAD', field: 'mood', path: [1, 'mood'], allowed: ['glad', 'sad'] },
    ],
    [
      'an unknown enum value, among the members of a list',
      'PATCH',
      `${product}/1`,
      { list: ['sad', SECRET] },
      { code: 'INVALID_PAYLOAD', field: 'list', path: ['list'], allowed: ['glad', 'sad'] },
    ],
    [
      'a check of one column',
      'POST',
      product,
      { title: SECRET, price: -1 },
      {
        code: 'INVALID_PAYLOAD',
        collection: 'product',
        field: 'price',
        path: ['price'],
        constraint: 'fair_price',
        allowed: 'price > 0::numeric',
      },
    ],
    [
      'a check of two columns',
      'POST',
      product,
      { title: SECRET, low: 5, high: 2 },
      {
        code: 'INVALID_PAYLOAD',
        field: 'low, high',
        fields: ['low', 'high'],
        path: [],
        constraint: 'in_order',
        allowed: 'low < high',
      },
    ],
    [
      'a check in a list of rows that leave out different columns',
      'POST',
      product,
      [{ title: 'x' }, { title: SECRET, price: -5 }, { title: 'y', low: 1 }],
      { code: 'INVALID_PAYLOAD', field: 'price', path: [1, 'price'], constraint: 'fair_price' },
    ],
    [
      'a check in a list of changes',
      'PATCH',
      product,
      [
        { id: 1, low: 1, high: 2 },
        { id: 2, low: 3, high: 2 },
      ],
      { code: 'INVALID_PAYLOAD', fields: ['low', 'high'], path: [1], constraint: 'in_order' },
    ],
    [
      'a check of a partition',
      'POST',
      '/items/parted',
      [
        { id: 1, n: 1 },
        { id: 2, n: -990099 },
      ],
      { code: 'INVALID_PAYLOAD', field: 'n', path: [1, 'n'], constraint: 'parted_n_check', allowed: 'n > 0' },
    ],
    [
      'a check of a domain',
      'POST',
      product,
      { title: 'x', code: SECRET },
      {
        code: 'INVALID_PAYLOAD',
        field: 'code',
        path: ['code'],
        constraint: 'sku_check',
        allowed: "VALUE ~ '^[A-Z]{3}$'::text",
      },
    ],
    [
      'a check of the base domain of a domain',
      'PATCH',
      `${product}/1`,
      { other_code: SECRET },
      { code: 'INVALID_PAYLOAD', field: 'other_code', path: ['other_code'], constraint: 'sku_check' },
    ],
    [
      'an exclusion constraint between a new and a stored row',
      'POST',
      product,
      [
        { title: 'x', during: '[20,21)' },
        { title: SECRET, during: '[4,6)' },
      ],
      {
        code: 'INVALID_PAYLOAD',
        field: 'during',
        path: [1, 'during'],
        constraint: 'product_during_excl',
        allowed: 'EXCLUDE USING gist (during WITH &&)',
      },
    ],
    [
      'a value that another row has',
      'POST',
      product,
      [{ title: 'x' }, { title: 'second' }],
      { code: 'RECORD_NOT_UNIQUE', field: 'title', path: [1, 'title'] },
    ],
    [
      'a value twice in one list, which names the second row',
      'POST',
      product,
      [{ title: 'x' }, { title: SECRET }, { title: 'y' }, { title: SECRET }],
      { code: 'RECORD_NOT_UNIQUE', field: 'title', path: [3, 'title'] },
    ],
    [
      'a pair that another row has',
      'PATCH',
      product,
      [
        { id: 1, region: 'x', slot: 'y' },
        { id: 2, region: 'x', slot: 'y' },
      ],
      { code: 'RECORD_NOT_UNIQUE', field: 'region, slot', fields: ['region', 'slot'], path: [1] },
    ],
    [
      'a foreign key without a row',
      'POST',
      product,
      { title: SECRET, maker: 990099 },
      { code: 'INVALID_FOREIGN_KEY', collection: 'product', field: 'maker', path: ['maker'] },
    ],
    [
      'a foreign key without a row, in a list whose rows refer to each other',
      'POST',
      product,
      [
        { id: 101, title: 'a', up: 103 },
        { id: 102, title: 'b', up: 101 },
        { id: 103, title: 'c', up: 990099 },
      ],
      { code: 'INVALID_FOREIGN_KEY', field: 'up', path: [2, 'up'] },
    ],
    [
      'a check in a list whose rows refer to each other, where the row stays unknown',
      'POST',
      product,
      [
        { id: 101, title: 'a', up: 102, price: 1 },
        { id: 102, title: 'b', up: 101, price: -99 },
      ],
      { code: 'INVALID_PAYLOAD', field: 'price', path: ['price'], constraint: 'fair_price' },
    ],
    [
      'a foreign key without a row at the commit',
      'POST',
      '/items/later',
      [
        { name: SECRET, up: null },
        { name: 'x', up: 990099 },
      ],
      { code: 'INVALID_FOREIGN_KEY', collection: 'later', field: 'up', path: [1, 'up'] },
    ],
    [
      'null in a not-null column',
      'POST',
      '/items/maker',
      [{ name: 'x' }, { name: null }],
      { code: 'FAILED_VALIDATION', field: 'name', type: 'nnull', path: [1] },
    ],
    [
      'a text that is too long',
      'POST',
      '/items/maker',
      [{ name: 'x' }, { name: `${SECRET}${SECRET}` }],
      { code: 'VALUE_TOO_LONG', collection: 'maker', field: 'name', path: [1, 'name'], allowed: { max_length: 10 } },
    ],
    [
      'a whole number out of range',
      'POST',
      product,
      [
        { title: 'x', stock: 1 },
        { title: 'y', stock: 990099 },
      ],
      { code: 'VALUE_OUT_OF_RANGE', field: 'stock', path: [1, 'stock'], allowed: { min: '-32768', max: '32767' } },
    ],
    [
      'a large number out of range',
      'PATCH',
      `${product}/1`,
      { big: '99009900990099009900990099' },
      {
        code: 'VALUE_OUT_OF_RANGE',
        field: 'big',
        path: ['big'],
        allowed: { min: '-9223372036854775808', max: '9223372036854775807' },
      },
    ],
    [
      'a number of more digits than the column has',
      'PATCH',
      product,
      [
        { id: 1, price: 1 },
        { id: 2, price: 990099 },
      ],
      { code: 'VALUE_OUT_OF_RANGE', field: 'price', path: [1, 'price'], allowed: { precision: 6, scale: 2 } },
    ],
    [
      'a text that is no date',
      'POST',
      product,
      { title: 'x', created_at: SECRET },
      { code: 'INVALID_PAYLOAD', field: 'created_at', path: ['created_at'], allowed: 'a date such as 2026-01-31' },
    ],
    [
      'a day that no month has',
      'POST',
      product,
      [
        { title: 'x', created_at: '2026-02-01' },
        { title: 'y', created_at: '9900-02-31' },
      ],
      { code: 'INVALID_PAYLOAD', field: 'created_at', path: [1, 'created_at'], allowed: 'a date such as 2026-01-31' },
    ],
    [
      'a text that is no UUID',
      'POST',
      product,
      [{ title: 'x', uid: SECRET }],
      { code: 'INVALID_PAYLOAD', field: 'uid', path: [0, 'uid'], allowed: 'a UUID' },
    ],
    [
      'a text that is no number',
      'PATCH',
      product,
      { keys: [1, 2], data: { stock: SECRET } },
      { code: 'INVALID_PAYLOAD', field: 'stock', path: ['stock'], allowed: 'a whole number' },
    ],
    [
      'a text that is no range',
      'POST',
      product,
      [
        { title: 'x', during: '[30,31)' },
        { title: 'y', during: SECRET },
      ],
      { code: 'INVALID_PAYLOAD', field: 'during', path: [1, 'during'] },
    ],
    [
      'a check in a nested list',
      'POST',
      product,
      [
        { title: 'x', reviews: [{ body: 'short' }, { body: 'short' }] },
        { title: 'y', reviews: [{ body: 'short' }, { body: `${SECRET} and too long for it` }] },
      ],
      {
        code: 'INVALID_PAYLOAD',
        collection: 'review',
        field: 'body',
        path: [1, 'reviews', 1, 'body'],
        constraint: 'review_body_check',
      },
    ],
    [
      'a check in a nested list under create',
      'PATCH',
      product,
      [
        { id: 1, title: 'one' },
        {
          id: 2,
          reviews: { create: [{ body: 'short' }, { body: `${SECRET} and too long for it` }, { body: 'short' }] },
        },
      ],
      { code: 'INVALID_PAYLOAD', field: 'body', path: [1, 'reviews', 'create', 1, 'body'] },
    ],
    [
      'a text too long in a row that a nested row leads to',
      'POST',
      product,
      { title: 'x', reviews: [{ body: 'a' }, { author: { name: `${SECRET}${SECRET}` } }] },
      { code: 'VALUE_TOO_LONG', collection: 'maker', field: 'name', path: ['reviews', 1, 'author', 'name'] },
    ],
    [
      'a foreign key without a row in a nested list',
      'POST',
      product,
      [{ title: 'x', reviews: [{ author: 1 }, { author: 990099 }, { author: 2 }] }],
      { code: 'INVALID_FOREIGN_KEY', collection: 'review', field: 'author', path: [0, 'reviews', 1, 'author'] },
    ],
    [
      'a required field of a nested row',
      'POST',
      product,
      [{ title: 'x' }, { title: 'y', maker: {} }],
      { code: 'FAILED_VALIDATION', field: 'name', type: 'required', path: [1, 'maker'] },
    ],
    [
      'an unknown field in a list',
      'POST',
      product,
      [{ title: 'x' }, { title: 'y', titel: SECRET }],
      { code: 'INVALID_PAYLOAD', path: [1, 'titel'] },
    ],
    [
      'a row of a list that a trigger rejects',
      'POST',
      '/items/guarded',
      [{ n: 1 }, { n: 2 }, { n: 14 }, { n: 3 }],
      { code: 'INVALID_PAYLOAD', reason: 'fourteen is taken', path: [2] },
    ],
    [
      'deleting a row that other rows refer to',
      'DELETE',
      '/items/maker/3',
      undefined,
      { code: 'INVALID_FOREIGN_KEY', collection: 'review', field: 'author', path: [] },
    ],
    [
      'deleting a row that other rows refer to, in a list of keys',
      'DELETE',
      '/items/maker',
      [1, 2, 4],
      { code: 'INVALID_FOREIGN_KEY', collection: 'hidden_link', field: 'hidden_maker', path: [2] },
    ],
    [
      'changing the key of a row that other rows refer to',
      'PATCH',
      '/items/maker/4',
      { id: 990099 },
      { code: 'INVALID_FOREIGN_KEY', collection: 'hidden_link', field: 'hidden_maker', path: [] },
    ],
  ];
  for (const [what, method, path, body, expected] of CASES) {
    it(`name field, row and allowed values for ${what}`, async () => {
      const before = await contents();
      const reply = await send(method, path, body);
      const text = JSON.stringify(reply.body);
      expect(reply.status, text).to.equal(400);
      expect(reply.body.errors[0].extensions, text).to.deep.include(expected);
      expect(text, 'a value that was sent').not.to.match(/s3cret|990099|9900-02/);
      expect(await contents()).to.deep.equal(before);
    });
  }

  describe('for callers with partial read permissions', () => {
    const refusal = async (method: string, path: string, body: unknown) => {
      const reply = await send(method, path, body, writer.token);
      expect(reply.status, JSON.stringify(reply.body)).to.equal(400);
      return reply.body.errors[0] as { message: string; extensions: Record<string, unknown> };
    };

    it('omit unreadable fields of a check constraint, and its definition', async () => {
      const one = await refusal('POST', '/items/traced', { n: 100 });
      expect(one.extensions).to.include({ field: 'n' });
      expect(JSON.stringify(one)).not.to.match(/secret/);
    });

    it('name a referring collection only to callers that may read it', async () => {
      const seen = await refusal('DELETE', '/items/maker', [1, 3]);
      expect(seen.extensions).to.deep.include({ collection: 'review', field: 'author', path: [1] });
      const hidden = await refusal('DELETE', '/items/maker', [1, 4]);
      expect(hidden.extensions).to.deep.include({ collection: 'maker', field: null, path: [1] });
      expect(JSON.stringify(hidden)).not.to.match(/hidden/);
    });

    it('name a field of a check constraint that the caller writes but may not read, without the definition', async () => {
      const { extensions } = await refusal('POST', '/items/product', { title: 'x', price: -1 });
      expect(extensions).to.include({ field: 'price' });
      expect(extensions).not.to.have.any.keys('allowed', 'constraint');
    });
  });

  it('take no longer for a long value with parentheses', async () => {
    const from = performance.now();
    const { body } = await send('POST', '/items/naming', { name: `x\n${'('.repeat(200_000)}` });
    expect(body.errors[0].extensions).to.include({ code: 'INVALID_FOREIGN_KEY', field: 'name' });
    expect(performance.now() - from).to.be.below(3000);
  });

  it('are the same in GraphQL', async () => {
    const query = `mutation { create_product_items(data: [{ title: "x" }, { title: "${SECRET}", price: -1 }]) { id } }`;
    const { body } = await send('POST', '/graphql', { query });
    expect(body.errors[0].extensions, JSON.stringify(body)).to.deep.include({
      code: 'INVALID_PAYLOAD',
      field: 'price',
      path: [1, 'price'],
      constraint: 'fair_price',
      allowed: 'price > 0::numeric',
    });
    expect(JSON.stringify(body)).not.to.include(SECRET);
  });

  it('take a number of statements logarithmic in the number of rows to find the rejected row', async () => {
    const rows = Array.from({ length: 2000 }, (_, at) => ({ n: at === 1501 ? 14 : 1000 + at }));
    let reply: Awaited<ReturnType<typeof send>> | undefined;
    const statements = await recordStatementsDuring(async () => {
      reply = await send('POST', '/items/guarded', rows);
    });
    expect(reply?.body.errors[0].extensions.path).to.deep.equal([1501]);
    const inserts = statements.filter((text) => text.includes('insert into "public"."guarded"'));
    expect(inserts.length).to.be.within(10, 2 + Math.ceil(Math.log2(rows.length)) + 1);
    expect(await database.query('select from guarded')).to.deep.equal([]);
  });
});

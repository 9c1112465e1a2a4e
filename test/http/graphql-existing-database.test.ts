import { expect } from 'chai';
import { type InProcessService, startService } from '../support/service.ts';
import { createUserWithPermissions } from './test-users.ts';

const SQL = `
  create type mood as enum ('glad', 'in progress', '1st', 'true', '', 'цена', 'in_u0020_progress');
  create schema "other one";
  create type "other one".mood as enum ('glad');
  create domain feeling as mood not null default 'glad';
  create domain price as numeric(10, 2) check (value >= 0);
  create table shops (id serial primary key, "zip code" text, "größe" int);
  create table "my orders" (
    id serial primary key, state mood not null default 'in progress', felt feeling, states mood[], elsewhere "other one".mood,
    "zip code" text, zip_u0020_code text, "first-name" text, "2fa" boolean, "größe" int, "__x" text, "first day" date,
    first_day_func text, "a.b" text, "a(b)" text, "a:b" text, cost price, costs price[],
    shop_id int references shops, "shop no" int references shops,
    total int generated always as ("größe" * 2) stored
  );
  create table orders (id int generated always as identity primary key, name text, day date, day_func text, state mood);
  create table orders_aggregated (id serial primary key, name text);
  create table parts (id int, kind mood, note text, primary key (id)) partition by range (id);
  create table parts_low partition of parts for values from (0) to (100);
  create view "shop-view" as select id, "zip code", 'glad'::mood as state from shops;
  create materialized view counted as select count(*) as orders from orders;
  create type odd as enum ('it''s', 'a\\b', 'q"q', 'two
lines');
  create table odds (id serial primary key, one odd, many odd[]);
  create table links (id serial primary key, collection text, item text);
  create table options (id serial primary key, state mood not null default 'in progress');
  create table kinds (code mood primary key, name text);
`;

interface Answer {
  readonly data?: Readonly<Record<string, never>> | null;
  readonly errors?: readonly { readonly message: string; readonly extensions: { readonly code: string } }[];
}

describe('/graphql over the tables of an adopted database', function () {
  this.timeout(120_000);
  let service: InProcessService;
  before(async () => {
    service = await startService();
    await service.database.query(SQL);
    const alias = { field: 'my orders', type: 'alias', meta: { special: ['o2m'] } };
    await rest('POST', '/fields/shops', alias);
    await rest('POST', '/relations', {
      collection: 'links',
      field: 'item',
      related_collection: null,
      meta: { one_collection_field: 'collection', one_allowed_collections: ['my orders', 'shops'] },
    });
    await rest('PATCH', '/collections/options', { meta: { singleton: true } });
    await rest('PATCH', '/relations/my%20orders/shop_id', { meta: { one_field: 'my orders' } });
  });
  after(() => service?.stop());
  beforeEach(() =>
    service.database.query(`truncate "my orders", orders, shops, kinds, parts restart identity cascade;
      insert into shops ("zip code", "größe") values ('A1', 5), ('B2', 7);
      insert into "my orders" (state, states, "zip code", "größe", "first day", shop_id, "shop no") values
        ('in progress', '{in progress,glad}', 'X', 1, '2024-05-06', 1, 2),
        ('glad', '{}', 'Y', 2, '2023-05-06', 2, 2),
        ('', null, 'Y', 4, null, null, null),
        ('in_u0020_progress', null, 'Z', 8, null, null, null)`),
  );

  async function rest(method: string, path: string, body?: unknown) {
    const answer = await service.request(method, path, { token: service.admin.token, body });
    expect(answer.status, JSON.stringify(answer.body)).to.be.below(300);
    return answer.body.data;
  }
  const ask = async (query: string, variables: Record<string, unknown> = {}): Promise<Answer> =>
    (await service.request('POST', '/graphql', { token: service.admin.token, body: { query, variables } })).body;
  const dataOf = async (query: string, variables: Record<string, unknown> = {}): Promise<unknown> => {
    const answer = await ask(query, variables);
    expect(answer.errors, query).to.equal(undefined);
    return answer.data;
  };
  const ids = async (filter: string, variables: Record<string, unknown> = {}, declared = ''): Promise<unknown> => {
    const data = await dataOf(
      `query ${declared} { o: my_u0020_orders(sort: "id", filter: ${filter}) { id } }`,
      variables,
    );
    return (data as { o: readonly { id: string }[] }).o.map(({ id }) => Number(id));
  };
  const sdl = async (): Promise<string> =>
    (await service.request('GET', '/server/specs/graphql', { token: service.admin.token })).body;

  describe('columns of enums', () => {
    it('a column has the type of its enum; values that are no GraphQL names have an alias and a description', async () => {
      const text = await sdl();
      expect(text).to.contain(`enum mood_enum {
  glad

  """In the database: "in progress"."""
  in_u0020_progress

  """In the database: "1st"."""
  _u0031_st

  """In the database: "true"."""
  tru_u0065_

  """In the database: ""."""
  _u0000_

  """In the database: "цена"."""
  _u04460435043D0430_

  """In the database: "in_u0020_progress"."""
  in_u005F_u0020_progress
}`);
      expect(text).to.contain('enum other_u0020_one_mood_enum {\n  glad\n}');
      const type = /^type my_u0020_orders \{[^}]*\}/m.exec(text)?.[0] ?? '';
      for (const field of [
        'state: mood_enum',
        'felt: mood_enum',
        'states: [mood_enum]',
        'elsewhere: other_u0020_one_mood_enum',
      ])
        expect(type).to.contain(field);
      expect(text).to.contain('_eq: mood_enum').and.contain('_in: [mood_enum]').and.contain('_contains: String');
      expect(/^type shop_u002D_view \{[^}]*\}/m.exec(text)?.[0]).to.contain('state: mood_enum');
    });

    it('a column answers the names of its values, in lists and behind relations as well', async () => {
      expect(
        await dataOf('{ my_u0020_orders(sort: "id") { state felt states shop_id { my_u0020_orders { state } } } }'),
      ).to.deep.equal({
        my_u0020_orders: [
          {
            state: 'in_u0020_progress',
            felt: 'glad',
            states: ['in_u0020_progress', 'glad'],
            shop_id: { my_u0020_orders: [{ state: 'in_u0020_progress' }] },
          },
          { state: 'glad', felt: 'glad', states: [], shop_id: { my_u0020_orders: [{ state: 'glad' }] } },
          { state: '_u0000_', felt: 'glad', states: null, shop_id: null },
          { state: 'in_u005F_u0020_progress', felt: 'glad', states: null, shop_id: null },
        ],
      });
    });

    it('conditions take names, quoted values, and variables of the enum or of String', async () => {
      expect(await ids('{ state: { _eq: in_u0020_progress } }')).to.deep.equal([1]);
      expect(await ids('{ state: { _eq: "in progress" } }')).to.deep.equal([1]);
      expect(await ids('{ state: { _eq: "glad" } }')).to.deep.equal([2]);
      expect(await ids('{ state: { _neq: glad } }')).to.deep.equal([1, 3, 4]);
      expect(await ids('{ state: { _in: [glad, _u0000_] } }')).to.deep.equal([2, 3]);
      expect(await ids('{ state: { _nin: ["glad", "in progress"] } }')).to.deep.equal([3, 4]);
      expect(await ids('{ state: { _contains: "progress" } }')).to.deep.equal([1, 4]);
      expect(await ids('{ state: { _null: true } }')).to.deep.equal([]);
      for (const [type, value] of [
        ['mood_enum', 'in_u0020_progress'],
        ['mood_enum', 'in progress'],
        ['String', 'in progress'],
      ])
        expect(await ids('{ state: { _eq: $v } }', { v: value }, `($v: ${type}!)`), type).to.deep.equal([1]);
      expect(await ids('{ state: { _in: $v } }', { v: ['glad', ''] }, '($v: [mood_enum!])')).to.deep.equal([2, 3]);
      expect(await ids('{ state: { _in: $v } }', { v: ['glad', ''] }, '($v: [String])')).to.deep.equal([2, 3]);
      expect(await ids('$f', { f: { state: { _eq: 'in progress' } } }, '($f: my_u0020_orders_filter)')).to.deep.equal([
        1,
      ]);
    });

    it('values with quotes, backslashes and line breaks, and lists of lists, are answered unchanged', async () => {
      await service.database.query(
        `insert into odds (one, many) values ('it''s', '{"a\\\\b","q\\"q",null}'), ('two\nlines', '{{"q\\"q"},{"a\\\\b"}}')`,
      );
      expect(await dataOf('{ odds(sort: "id") { one many } }')).to.deep.equal({
        odds: [
          { one: 'it_u0027_s', many: ['a_u005C_b', 'q_u0022_q', null] },
          { one: 'two_u000A_lines', many: [['q"q'], ['a\\b']] },
        ],
      });
      const data = await dataOf(
        'mutation { create_odds_item(data: { one: q_u0022_q, many: [a_u005C_b, "it\'s"] }) { one many } }',
      );
      expect(data).to.deep.equal({ create_odds_item: { one: 'q_u0022_q', many: ['a_u005C_b', 'it_u0027_s'] } });
    });

    it('a singleton without a row answers the default of the column', async () => {
      expect(await dataOf('{ options { state } }')).to.deep.equal({ options: { state: 'in_u0020_progress' } });
    });

    it('an enum is only in the schema of callers that may read a column of it', async () => {
      const reader = await createUserWithPermissions(service, [
        {
          collection: 'my orders',
          action: 'read',
          fields: ['id', 'state', 'zip code'],
          permissions: { 'zip code': { _eq: 'Y' } },
        },
      ]);
      const send = (query: string) => service.request('POST', '/graphql', { token: reader.token, body: { query } });
      const { body } = await send('{ my_u0020_orders(sort: "-zip_u0020_code") { id state zip_u0020_code } }');
      expect(body.data.my_u0020_orders).to.have.deep.members([
        { id: '2', state: 'glad', zip_u0020_code: 'Y' },
        { id: '3', state: '_u0000_', zip_u0020_code: 'Y' },
      ]);
      const text = (await service.request('GET', '/server/specs/graphql', { token: reader.token })).body;
      expect(text).to.contain('enum mood_enum').and.not.contain('odd_enum').and.not.contain('first_u002D_name');
      expect((await send('{ my_u0020_orders { first_u002D_name } }')).status).to.equal(400);
    });

    it('a value that is not in the enum is refused before anything runs', async () => {
      for (const [query, variables] of [
        ['{ my_u0020_orders(filter: { state: { _eq: angry } }) { id } }', {}],
        ['{ my_u0020_orders(filter: { state: { _eq: "angry" } }) { id } }', {}],
        ['query ($v: mood_enum) { my_u0020_orders(filter: { state: { _eq: $v } }) { id } }', { v: 'angry' }],
        ['mutation { create_my_u0020_orders_item(data: { state: angry }) { id } }', {}],
        ['query ($v: Int) { my_u0020_orders(filter: { state: { _eq: $v } }) { id } }', { v: 1 }],
      ] as const) {
        const { errors } = await ask(query, variables);
        expect(errors?.[0]?.extensions.code, query).to.equal('GRAPHQL_VALIDATION_EXCEPTION');
      }
    });

    it('mutations take names, quoted values and variables, and REST reads the database values', async () => {
      const create = (data: string, variables = {}, declared = '') =>
        dataOf(`mutation ${declared} { o: create_my_u0020_orders_item(data: ${data}) { id state states } }`, variables);
      expect(await create('{ state: tru_u0065_, states: [_u0031_st, "glad"] }')).to.deep.equal({
        o: { id: '5', state: 'tru_u0065_', states: ['_u0031_st', 'glad'] },
      });
      expect(await create('{ state: "in progress" }')).to.deep.include({
        o: { id: '6', state: 'in_u0020_progress', states: null },
      });
      await create('{ state: $s, states: $l }', { s: 'true', l: ['1st'] }, '($s: String!, $l: JSON)');
      await create('$d', { d: { state: 'цена', states: ['tru_u0065_'] } }, '($d: create_my_u0020_orders_input!)');
      await dataOf('mutation { update_my_u0020_orders_item(id: 1, data: { state: glad, states: [] }) { id } }');
      expect(await rest('GET', '/items/my%20orders?fields=state,states&sort=id&filter[id][_nin]=2,3,4')).to.deep.equal([
        { state: 'glad', states: [] },
        { state: 'true', states: ['1st', 'glad'] },
        { state: 'in progress', states: null },
        { state: 'true', states: ['1st'] },
        { state: 'цена', states: ['true'] },
      ]);
    });

    it('an enum key is an ID, and groups show values as REST does', async () => {
      await dataOf('mutation { create_kinds_item(data: { code: "in progress", name: "x" }) { code } }');
      expect(await dataOf('{ kinds { code } kinds_by_id(id: "in progress") { name } }')).to.deep.equal({
        kinds: [{ code: 'in progress' }],
        kinds_by_id: { name: 'x' },
      });
      expect(
        await dataOf(
          '{ my_u0020_orders_aggregated(groupBy: ["state"], filter: { state: { _eq: in_u0020_progress } }) { group countAll count { state } } }',
        ),
      ).to.deep.equal({
        my_u0020_orders_aggregated: [{ group: { state: 'in progress' }, countAll: 1, count: { state: 1 } }],
      });
    });

    it('a value that is added to the type is in the schema at once', async () => {
      await service.database.query(
        `create type size as enum ('s'); create table shirts (id serial primary key, size size)`,
      );
      await dataOf('mutation { create_shirts_item(data: { size: s }) { size } }');
      await service.database.query(`alter type size add value 'x l'`);
      expect(await dataOf('mutation { create_shirts_item(data: { size: x_u0020_l }) { size } }')).to.deep.equal({
        create_shirts_item: { size: 'x_u0020_l' },
      });
    });
  });

  describe('names that are not GraphQL names', () => {
    it('a field has an alias in every type, and its database name in the description', async () => {
      const text = await sdl();
      for (const name of [
        'zip_u0020_code',
        'zip_u005F_u0020_code',
        'first_u002D_name',
        '_u0032_fa',
        'gr_u00F600DF_e',
        '_u005F__x',
      ])
        for (const type of [
          'type my_u0020_orders',
          'input my_u0020_orders_filter',
          'input create_my_u0020_orders_input',
          'input update_my_u0020_orders_input',
          'type my_u0020_orders_aggregated_count',
        ])
          expect(new RegExp(`^${type} \\{[^}]*^  ${name}: `, 'm').test(text), `${type} ${name}`).to.equal(true);
      expect(text).to.contain('"""In the database: "zip code"."""\n  zip_u0020_code: String');
      expect(text).to.contain('"""In the database: "my orders"."""\ntype my_u0020_orders {');
      const { __type } = (await dataOf('{ __type(name: "shops") { fields { name description } } }')) as {
        __type: { fields: readonly { name: string; description: string }[] };
      };
      expect(__type.fields.find(({ name }) => name === 'my_u0020_orders')?.description).to.equal(
        'In the database: "my orders".',
      );
    });

    it('aliased fields are read, filtered, sorted and searched through relations', async () => {
      expect(
        await dataOf(`{ my_u0020_orders(
          filter: { shop_u0020_no: { zip_u0020_code: { _eq: "B2" } }, first_u0020_day_func: { year: { _gte: 2020 } } },
          sort: ["-shop_id.gr_u00F600DF_e", "-shop_id.größe"]
        ) { __typename zip_u0020_code zip_u005F_u0020_code first_u0020_day_func { year } shop_u0020_no { gr_u00F600DF_e } a_u002E_b } }`),
      ).to.deep.equal({
        my_u0020_orders: [
          ['Y', 2023],
          ['X', 2024],
        ].map(([zip, year]) => ({
          __typename: 'my_u0020_orders',
          zip_u0020_code: zip,
          zip_u005F_u0020_code: null,
          first_u0020_day_func: { year },
          shop_u0020_no: { gr_u00F600DF_e: 7 },
          a_u002E_b: null,
        })),
      });
      expect(
        await dataOf(
          '{ shops(sort: "id", filter: { my_u0020_orders: { _some: { zip_u0020_code: { _eq: "X" } } } }) { my_u0020_orders(sort: "zip_u0020_code") { zip_u0020_code } } }',
        ),
      ).to.deep.equal({ shops: [{ my_u0020_orders: [{ zip_u0020_code: 'X' }] }] });
      for (const name of ['a_u002E_b', 'a_u0028_b_u0029_', 'a_u003A_b'])
        expect(await ids(`{ ${name}: { _null: true } }`), name).to.deep.equal([1, 2, 3, 4]);
    });

    it('aliased collections are read through a many-to-any', async () => {
      await rest('POST', '/items/links', [
        { collection: 'my orders', item: '1' },
        { collection: 'shops', item: '2' },
      ]);
      expect(
        await dataOf(`{ links(sort: "id", filter: { item__my_u0020_orders: { zip_u0020_code: { _eq: "X" } } }) {
          collection item { __typename ... on my_u0020_orders { zip_u0020_code state } } } }`),
      ).to.deep.equal({
        links: [
          {
            collection: 'my orders',
            item: { __typename: 'my_u0020_orders', zip_u0020_code: 'X', state: 'in_u0020_progress' },
          },
        ],
      });
    });

    it('aliased fields are aggregated and grouped by', async () => {
      expect(
        await dataOf(`{ my_u0020_orders_aggregated(groupBy: ["zip_u0020_code"], sort: ["-sum.gr_u00F600DF_e"]) {
          group sum { gr_u00F600DF_e } count { _u0032_fa } } }`),
      ).to.deep.equal({
        my_u0020_orders_aggregated: [
          { group: { 'zip code': 'Z' }, sum: { gr_u00F600DF_e: 8 }, count: { _u0032_fa: 0 } },
          { group: { 'zip code': 'Y' }, sum: { gr_u00F600DF_e: 6 }, count: { _u0032_fa: 0 } },
          { group: { 'zip code': 'X' }, sum: { gr_u00F600DF_e: 1 }, count: { _u0032_fa: 0 } },
        ],
      });
    });

    it('aliased fields are written, in nested rows as well, and rows are read by key', async () => {
      const written = await dataOf(
        `mutation ($d: [create_my_u0020_orders_input!]) {
          create_my_u0020_orders_items(data: $d, sort: "-id", filter: { zip_u0020_code: { _nnull: true } }) { id zip_u0020_code shop_u0020_no { zip_u0020_code } total }
          update_shops_item(id: 1, data: { my_u0020_orders: [{ id: 1, first_u002D_name: "n" }] }) { id }
          delete_my_u0020_orders_item(id: 2) { id }
        }`,
        {
          d: [{ zip_u0020_code: 'N', gr_u00F600DF_e: 3, shop_u0020_no: { zip_u0020_code: 'C3' } }, { _u0032_fa: true }],
        },
      );
      expect(written).to.deep.equal({
        create_my_u0020_orders_items: [
          { id: '5', zip_u0020_code: 'N', shop_u0020_no: { zip_u0020_code: 'C3' }, total: 6 },
        ],
        update_shops_item: { id: '1' },
        delete_my_u0020_orders_item: { id: '2' },
      });
      expect(await dataOf('{ my_u0020_orders_by_id(id: 1) { first_u002D_name } }')).to.deep.equal({
        my_u0020_orders_by_id: { first_u002D_name: 'n' },
      });
      expect(await rest('GET', '/items/my%20orders/5?fields=zip%20code,gr%C3%B6%C3%9Fe')).to.deep.equal({
        'zip code': 'N',
        größe: 3,
      });
    });

    it('aliases stay the same when columns and tables are added', async () => {
      const before = await dataOf('{ my_u0020_orders(limit: 1) { zip_u0020_code first_u0020_day_func { year } } }');
      await service.database.query(
        `alter table "my orders" add zip_code text, add "zip-code" text; create table my_orders (id serial primary key); create table "my-orders" (id serial primary key)`,
      );
      expect(
        await dataOf('{ my_orders { id } my_u002D_orders { id } my_u0020_orders { zip_code zip_u002D_code } }'),
      ).to.have.keys('my_orders', 'my_u002D_orders', 'my_u0020_orders');
      expect(
        await dataOf('{ my_u0020_orders(limit: 1) { zip_u0020_code first_u0020_day_func { year } } }'),
      ).to.deep.equal(before);
    });

    it('a collection has an alias where a type derived from another collection has its name', async () => {
      await dataOf(
        'mutation { create_orders_aggregate_u0064__item(data: { name: "x" }) { id } create_orders_item(data: { day: "2024-01-02", day_func: "f" }) { id } }',
      );
      expect(
        await dataOf(
          '{ orders_aggregated { countAll } orders_aggregate_u0064_ { name } orders { day_func day_fun_u0063_ { year } } }',
        ),
      ).to.deep.equal({
        orders_aggregated: [{ countAll: 1 }],
        orders_aggregate_u0064_: [{ name: 'x' }],
        orders: [{ day_func: 'f', day_fun_u0063_: { year: 2024 } }],
      });
      expect(await dataOf('{ orders(filter: { day_fun_u0063_: { year: { _eq: 2024 } } }) { id } }')).to.deep.equal({
        orders: [{ id: '1' }],
      });
    });
  });

  describe('columns of adopted tables', () => {
    it('inputs have no generated columns and no identities that are always generated', async () => {
      const text = await sdl();
      const inputs = /^input create_my_u0020_orders_input \{[^}]*\}/m.exec(text)?.[0] ?? '';
      expect(inputs).to.contain('cost: Float').and.not.contain('total');
      expect(/^input create_orders_input \{[^}]*\}/m.exec(text)?.[0])
        .to.contain('name: String')
        .and.not.match(/^ {2}id:/m);
    });

    it('a domain has the scalar of its base type, and an array is JSON', async () => {
      const type = /^type my_u0020_orders \{[^}]*\}/m.exec(await sdl())?.[0] ?? '';
      expect(type).to.contain('cost: Float').and.contain('costs: JSON').and.contain('total: Int');
    });

    it('a partitioned table answers the rows of all partitions, and a view its rows', async () => {
      await dataOf('mutation { create_parts_item(data: { id: 7, kind: glad }) { id } }');
      expect(
        await dataOf(
          '{ parts { id kind } shop_u002D_view(sort: "id", limit: 1) { state zip_u0020_code } counted { orders } }',
        ),
      ).to.deep.equal({
        parts: [{ id: '7', kind: 'glad' }],
        shop_u002D_view: [{ state: 'glad', zip_u0020_code: 'A1' }],
        counted: [{ orders: '0' }],
      });
      expect(await sdl()).to.not.contain('parts_low');
    });
  });
});

import { expect } from 'chai';
import type { Collection } from '../../../plugins/schema/contract.ts';
import { type FreshDatabase, freshDatabase } from '../../support/database.ts';
import { type SchemaFixture, startSchemaFixture } from '../schema/schema-fixture.ts';
import { type QueryTestDatabase, runQueryCase } from './query-cases.ts';

type Query = Record<string, unknown>;

/** A table with a column of every PostgreSQL type, two rows and a row of nulls, a view, and names that statements use. */
const TABLES = `
  create type mood as enum ('calm', 'it''s "odd"\\');
  create type pair as (a int, b text);
  create domain positive as int check (value > 0);
  create domain short as varchar(5);
  create domain moments as timestamptz[];
  create table kind (
    id serial primary key, small smallint, whole int, large bigint, exact numeric, fine numeric(5, 2), real real, double double precision,
    money money, flag boolean, word varchar(20), fixed char(4), long text, sysname name, key uuid, day date, local timestamp,
    moment timestamptz, clock time, zoned timetz, span interval, doc jsonb, plain json, bytes bytea, mood mood, moods mood[],
    positive positive, short short, moments moments, pair pair, ints int[], texts text[], docs jsonb[], uuids uuid[], grid int[][],
    address inet, net cidr, mac macaddr, spot point, line line, box box, path path, shape polygon, ring circle, tree xml, bits bit(3),
    varbits varbit, range int4range, multi int4multirange, oid oid, reg regclass, vector tsvector, lsn pg_lsn, bin "char", parent int references kind
  );
  insert into kind values
    (1, 1, 2, 9007199254740993, 1.5, 2.25, 0.5, 0.1, 12.3, true, 'word', 'ab', 'long', 'name', '11111111-1111-4111-8111-111111111111', '2024-02-29',
     '2024-01-01T00:00:00', '2024-01-01T00:00:00Z', '10:00', '10:00+02', '1 day', '{"a":[1,{"b":"c"}]}', '{"a":1}', '\\xff', 'calm', '{calm}', 5,
     'short', '{2024-01-01}', '(1,x)', '{1,2}', '{a,NULL}', '{"{}"}', '{11111111-1111-4111-8111-111111111111}', '{{1,2},{3,4}}', '10.0.0.1',
     '10.0.0.0/8', '08:00:2b:01:02:03', '(1,2)', '{1,2,3}', '(1,2),(3,4)', '[(1,2),(3,4)]', '((1,2),(3,4))', '<(1,2),3>', '<a/>', '101', '1',
     '[1,5)', '{[1,2)}', 1, 'pg_class', 'a b', '0/1', 'x', null),
    (2, -1, -2, -9223372036854775808, 'NaN', -999.99, 'NaN', '-infinity', -1, false, '', '', '', '', '22222222-2222-4222-8222-222222222222', 'infinity',
     '-infinity', 'infinity', '24:00', '00:00-15:59', '-1000 years', '[]', '"x"', '', 'it''s "odd"\\', '{}', 1, '', '{}', '(,)', '{}', '{}', '{}',
     '{}', '{}', '::1', '::/0', 'ff:ff:ff:ff:ff:ff', '(NaN,Infinity)', '{1,0,0}', '(0,0),(0,0)', '((0,0))', '((0,0))', '<(0,0),0>', '<b/>', '000', '',
     'empty', '{}', 4294967295, 'pg_type', '', 'FFFFFFFF/FFFFFFFF', '', 1);
  insert into kind (id) values (3);
  create table t1 (id serial primary key, t1 int, t2 text, r text, g0 int, f0 int, j jsonb, key text, at timestamptz, x int, "row" text, data text, meta text, "count" int,
    "a.b" int, "a:b" int, "a(b)" int, "json" jsonb, "select" text, "__proto__" text, "constructor" text, "hasOwnProperty" text, _filter int, "-minus" int, "*" int, "$NOW" int);
  insert into t1 (t1, r, key, j) values (1, 'r', 'k', '[1]');
  create table part (id serial primary key, whole int references t1, kind varchar(255), item text);
  insert into part (whole, kind, item) values (1, 't1', '1'), (1, 'it''s\\', '1'), (1, 't1', 'x'), (1, 't1', '99999999999999999999'), (1, 'kind', '1');
  create table "it's\\" (id serial primary key, "q""uote" text);
  insert into "it's\\" values (1, 'x');
  create view busy as select whole, count(*)::int as n from part group by whole;
  create table person (
    id uuid primary key, n int, big bigint, part numeric, word text, doc jsonb, plain json, ints int[], flag boolean, day date, moment timestamptz,
    clock time, tree xml, mood mood, price money, bytes bytea, mate uuid references person
  );
  insert into person values ('11111111-1111-4111-8111-111111111111', 1, 2, 3.5, '2024-01-01', '1', '{}', '{1}', true, '2024-01-01', now(), '10:00', '<a/>',
    'calm', 5, '\\x01', '11111111-1111-4111-8111-111111111111');
`;

/** Registers to-many aliases and a many-to-any on these tables. */
const REGISTRY = `
  insert into platform_fields (collection, field, special) values ('t1', 'parts', 'o2m'), ('person', 'mates', 'o2m');
  insert into platform_relations (many_collection, many_field, one_collection, one_field) values ('part', 'whole', 't1', 'parts'), ('person', 'mate', 'person', 'mates');
  insert into platform_relations (many_collection, many_field, one_collection_field, one_allowed_collections)
    values ('part', 'item', 'kind', 't1,kind,it''s\\');
`;
const CALLER = { user: '11111111-1111-4111-8111-111111111111', role: '22222222-2222-4222-8222-222222222222' };

describe('malformed and hostile queries', function () {
  this.timeout(120_000);
  let database: FreshDatabase;
  let probe: SchemaFixture;
  let ground: QueryTestDatabase;
  before(async () => {
    database = await freshDatabase('hostile_query');
    await database.query(TABLES);
    probe = await startSchemaFixture(database);
    await database.query(REGISTRY);
    const schema = await probe.schema.refresh();
    const kinds = (['part.item', 't1.parts', 'person.mates'] as const).map((one) => {
      const [collection = '', field = ''] = one.split('.');
      return schema.collections.get(collection)?.fields.get(field)?.relation?.kind;
    });
    expect(kinds).to.deep.equal(['any', 'many', 'many']);
    // Makes `$CURRENT_USER` paths lead to the table `person`, which has columns of every kind.
    const users = schema.collections.get('person') as Collection;
    const collections = new Map([...schema.collections, ['platform_users', users]]);
    ground = { schema: { ...schema, collections }, database };
  });
  after(async () => {
    await probe?.stop();
    await database?.drop();
  });

  /** Asserts that each query is answered or refused with INVALID_QUERY or FORBIDDEN, and none is an internal error. */
  async function assertAnsweredOrRefused(collection: string, queries: readonly Query[]): Promise<void> {
    const failed: string[] = [];
    let answered = 0;
    for (const query of queries) {
      const answer = await runQueryCase({ collection, query, caller: CALLER }, ground).catch((error: Error) => error);
      const code = answer instanceof Error ? answer.message : (answer.error?.code ?? '');
      if (code === '') answered++;
      if (!['', 'INVALID_QUERY', 'FORBIDDEN'].includes(code))
        failed.push(`${JSON.stringify(query).slice(0, 200)}: ${code}`);
    }
    expect(failed.slice(0, 5).join('\n'), `${failed.length} failures`).to.equal('');
    expect(answered, 'queries with an answer').to.be.greaterThan(0);
  }

  const names = (collection: string): readonly string[] => [
    ...(ground.schema.collections.get(collection)?.fields.keys() ?? []),
  ];
  const SHAPES = [
    0,
    1,
    -1,
    1.5,
    1e21,
    2 ** 53,
    true,
    false,
    null,
    '',
    ' ',
    'x',
    '1',
    '-1',
    '1e400',
    '\u0000',
    'a\u0000',
    [],
    [1],
    [null],
    [[]],
    [{}],
    ['a', 1],
    {},
    { a: 1 },
    { 0: 'a' },
    { a: { b: { c: 1 } } },
    '[',
    '{',
    '[]',
    '{}',
    '{"a":',
    'null',
    'true',
    '"',
    "'",
    '\\',
    '😀',
    '\ud800',
    'é'.repeat(70),
    'x'.repeat(5000),
    '__proto__',
    'constructor',
    '*',
    '*.*',
    '**',
    '.',
    '..',
    'a..b',
    '-',
    '--',
    '-*',
    '(',
    ')',
    '()',
    'year()',
    'count(*)',
    'json(a,b)',
    'a:b',
    ':',
    'a:',
    ':a',
    '$NOW',
    '$NOW(',
    '$CURRENT_USER',
    '$CURRENT_USER.',
    '$CURRENT_USER..',
    '$CURRENT_USER.role.users.role',
    '$FOLLOW',
    '%',
    '_',
    ';--',
    "'; drop table kind; --",
    '2024-13-45',
    '2024 foo',
    '25:61',
    'Infinity',
    'NaN',
    '0x10',
    '１',
  ];

  it('parameters of every shape are answered or refused', async () => {
    const parameters = [
      'fields',
      'filter',
      'sort',
      'limit',
      'offset',
      'page',
      'search',
      'aggregate',
      'groupBy',
      'deep',
      'alias',
      'meta',
      'backlink',
      'version',
    ];
    for (const collection of ['kind', 't1', 'part', "it's\\"])
      await assertAnsweredOrRefused(
        collection,
        parameters.flatMap((name) => SHAPES.map((shape) => ({ [name]: shape }))),
      );
  });

  it('parameters of relations ("deep") of every shape are answered or refused', async () => {
    const parameters = [
      '_filter',
      '_sort',
      '_limit',
      '_offset',
      '_page',
      '_search',
      '_alias',
      '_aggregate',
      '_groupBy',
      '_fields',
      'parts',
      '__proto__',
    ];
    await assertAnsweredOrRefused(
      't1',
      parameters.flatMap((name) => SHAPES.map((shape) => ({ fields: 'parts.id', deep: { parts: { [name]: shape } } }))),
    );
    await assertAnsweredOrRefused(
      'part',
      parameters.flatMap((name) =>
        SHAPES.map((shape) => ({ fields: 'item:t1.id', deep: { 'item:t1': { [name]: shape } } })),
      ),
    );
  });

  it('every column can be shown, sorted by, grouped by and aggregated, or is refused', async () => {
    for (const collection of ['kind', 't1', 'part', "it's\\"]) {
      const functions = ['count', 'countDistinct', 'sum', 'sumDistinct', 'avg', 'avgDistinct', 'min', 'max'];
      const parts = ['year', 'month', 'week', 'day', 'weekday', 'hour', 'minute', 'second', 'count'];
      await assertAnsweredOrRefused(
        collection,
        names(collection).flatMap((name) => [
          { fields: name },
          { fields: [name, '*', `*.${name}`] },
          { sort: name },
          { sort: `-${name}`, fields: '*.*' },
          { groupBy: name },
          { groupBy: [name], sort: `-${name}`, aggregate: { count: '*' } },
          { fields: `json(${name}, a[0].b)` },
          { sort: `json(${name}, 0)` },
          { alias: { x: name }, fields: 'x', sort: 'x' },
          { alias: { [name]: 'id' }, fields: name },
          { groupBy: 'g', alias: { g: name } },
          ...parts.flatMap((fn) => [
            { fields: `${fn}(${name})` },
            { sort: `${fn}(${name})` },
            { groupBy: `${fn}(${name})`, aggregate: { count: '*' } },
            { filter: { [`${fn}(${name})`]: { _gt: 1 } } },
            { filter: { [`${fn}(${name})`]: { _in: ['$CURRENT_USER', '$NOW'] } } },
          ]),
          ...functions.flatMap((fn) => [
            { aggregate: { [fn]: name } },
            { aggregate: { [fn]: [name, '*'] }, groupBy: 'id', sort: `-${fn}.${name}` },
          ]),
        ]),
      );
    }
  });

  // Leaves out most negated operators, which share the code of these.
  const OPERATORS = [
    '_eq',
    '_neq',
    '_ieq',
    '_lt',
    '_gte',
    '_in',
    '_nin',
    '_between',
    '_nbetween',
    '_null',
    '_empty',
    '_contains',
    '_nicontains',
    '_starts_with',
    '_iends_with',
    '_intersects',
    '_intersects_bbox',
    '_some',
    '_json',
    '_regex',
    '_and',
    '_or',
    '__proto__',
  ];
  const OPERANDS = [
    1,
    1e30,
    true,
    null,
    'x',
    '99999999999999999999999',
    '1e400',
    [],
    ['x', 'y'],
    [null, 'x'],
    ['1', '$NOW'],
    {},
    '2024-01-01',
    '2024 foo',
    '2024-01-01T00:00:00+99:00',
    '294277-01-01',
    '10:00',
    '11111111-1111-4111-8111-111111111111',
    'it\'s "odd"\\',
    '$NOW(-99999999 years)',
    '$CURRENT_USER',
    '{"a":1}',
    { 'a.b[0]': { _gt: 1 } },
    { type: 'Point', coordinates: [1, 2] },
    '\ud800',
    'x'.repeat(3000),
  ];
  it('every operator with operands of every kind is answered or refused on every column', async function () {
    this.timeout(120_000);
    // Each operator gets half of the operands on one column and the other half on the next; in two of the tables a third.
    for (const collection of ['kind', 't1', 'part'])
      for (const [column, name] of names(collection).entries()) {
        const queries = OPERATORS.flatMap((operator, row) =>
          OPERANDS.filter((_, at) => (at + row + column) % (collection === 'kind' ? 2 : 3) === 0).map((operand) => ({
            filter: { [name]: { [operator]: operand } },
            fields: 'id',
            limit: 1,
          })),
        );
        await assertAnsweredOrRefused(collection, queries);
      }
  });

  it('$CURRENT_USER paths to values of every kind are answered or refused', async () => {
    const paths = names('person').flatMap((name) => [name, `mate.${name}`, `mates.${name}`]);
    // Alternates between the path by itself and in a list, so that each column and each path is tested in both forms.
    const queries = names('kind').flatMap((name, column) =>
      paths.map((path, at) => {
        const value = `$CURRENT_USER.${path}`;
        return { filter: { [name]: (column + at) % 2 === 0 ? value : { _in: ['x', value] } } };
      }),
    );
    await assertAnsweredOrRefused(
      'kind',
      queries.map((query) => ({ fields: 'id', ...query })),
    );
  });
});

import { expect } from 'chai';
import type { FreshDatabase } from '../support/database.ts';
import { createMigratedDatabase, type InProcessService, startService } from '../support/service.ts';

const UUID = '3f0e9a52-3b0c-4d51-9a4e-0d1a6c1f7a11';

/** Columns with a value that is written, and the value that is then read; without one it is the written value. */
const ROUND_TRIPS: readonly [column: string, written: unknown, read?: unknown][] = [
  ['small', -32768],
  ['int', 2147483647],
  ['int', '7', 7],
  ['int', 7.0, 7],
  ['big', '9223372036854775807'],
  ['big', 5, '5'],
  ['exact', '12345678.90', '12345678.90'],
  ['exact', 1.5, '1.50'],
  ['exact', '99999999.994', '99999999.99'],
  ['free', '123456789012345678901234567890.5'],
  ['single', 1.5],
  ['double', 1e300],
  ['double', '-0.25', -0.25],
  ['flag', true],
  ['flag', 'false', false],
  ['short', 'äöü€'],
  ['short', 12345, '12345'],
  ['short', ''],
  ['fixed', 'ab', 'ab   '],
  ['words', 'a\n"b"\t\\c\u2028😀'],
  ['ident', UUID],
  ['ident', UUID.toUpperCase(), UUID],
  ['day', '2024-02-29'],
  ['clock', '13:30:05'],
  ['clock', '13:30', '13:30:00'],
  ['plain', '2024-02-29T13:30:05'],
  ['plain', '2024-02-29 13:30', '2024-02-29T13:30:00'],
  ['moment', '2024-02-29T13:30:05.678Z'],
  ['moment', '2024-02-29T13:30:05+02:00', '2024-02-29T11:30:05.000Z'],
  ['moment', '2024-02-29', '2024-02-29T00:00:00.000Z'],
  ['moment', '1969-07-20T20:17:40.5-05:00', '1969-07-21T01:17:40.500Z'],
  ['moment', 'infinity'],
  ['day', '-infinity'],
  ['doc', { a: [1, { b: null }], 'ü"': true }],
  ['doc', [1, 'two', null, { three: 3 }]],
  ['doc', []],
  ['doc', 'text'],
  ['doc', '{"a":1}'],
  ['doc', 5],
  ['doc', 0],
  ['doc', false],
  ['doc', null],
  ['doctext', { a: 1 }],
  ['texts', ['a', 'b,c', '"d"', null, '']],
  ['texts', []],
  ['ints', [1, -2, null]],
  ['bigs', ['9223372036854775807', '1']],
  ['exacts', ['123456789012345678901234567890.5']],
  ['moments', ['2024-02-29T13:30:05+02:00'], ['2024-02-29T11:30:05.000Z']],
  ['plains', ['2024-02-29T13:30:05']],
  ['days', ['2024-02-29']],
  ['flags', [true, false]],
  ['idents', [UUID]],
  ['docs', [{ a: 1 }, [1], 'x', 5]],
  ['moods', ['happy', 'sad']],
  [
    'grid',
    [
      [1, 2],
      [3, 4],
    ],
  ],
  ['mood', 'happy'],
  ['bytes', 'AP8Q'],
  ['bytes', ''],
  ['blobs', ['AP8Q', null, '']],
  ['stamps', [['2024-02-29T13:30:05.5Z'], [null]], [['2024-02-29T13:30:05.5+00:00'], [null]]],
  ['address', '10.0.0.1/32', '10.0.0.1/32'],
  ['span', '1 day 02:00:00'],
  ['period', '[1,5)'],
  ['tags', ['a', 'b']],
  ['tags', 'a,b', ['a', 'b']],
  ['tags', [], []],
  ['tags', '', []],
  ['positive', 5],
];

/** Values that a column rejects. The error names the field. */
const REFUSED: readonly [column: string, written: unknown, code: string][] = [
  ['small', 32768, 'VALUE_OUT_OF_RANGE'],
  ['int', 2147483648, 'VALUE_OUT_OF_RANGE'],
  ['int', 'seven', 'INVALID_PAYLOAD'],
  ['int', 1.5, 'INVALID_PAYLOAD'],
  ['int', true, 'INVALID_PAYLOAD'],
  ['int', '', 'INVALID_PAYLOAD'],
  ['int', [1], 'INVALID_PAYLOAD'],
  ['big', '9223372036854775808', 'VALUE_OUT_OF_RANGE'],
  ['exact', '123456789.00', 'VALUE_OUT_OF_RANGE'],
  ['exact', '99999999.995', 'VALUE_OUT_OF_RANGE'],
  ['exact', 'NaN', 'INVALID_PAYLOAD'],
  ['single', '1e60', 'VALUE_OUT_OF_RANGE'],
  ['double', '1e400', 'VALUE_OUT_OF_RANGE'],
  ['flag', 'perhaps', 'INVALID_PAYLOAD'],
  ['short', 'äöü€äöü€ä', 'VALUE_TOO_LONG'],
  ['fixed', 'abcdef', 'VALUE_TOO_LONG'],
  ['short', ['a'], 'INVALID_PAYLOAD'],
  ['words', { a: 1 }, 'INVALID_PAYLOAD'],
  ['ident', 'nonsense', 'INVALID_PAYLOAD'],
  ['day', '2023-02-29', 'INVALID_PAYLOAD'],
  ['day', '2023-02-30', 'INVALID_PAYLOAD'],
  ['day', 'soon', 'INVALID_PAYLOAD'],
  ['day', 20240229, 'INVALID_PAYLOAD'],
  ['clock', '25:00', 'INVALID_PAYLOAD'],
  ['plain', '2024-13-01', 'INVALID_PAYLOAD'],
  ['moment', 'now()', 'INVALID_PAYLOAD'],
  ['moment', '2024-02-29T25:00:00Z', 'INVALID_PAYLOAD'],
  ['texts', 'a', 'INVALID_PAYLOAD'],
  ['ints', ['a'], 'INVALID_PAYLOAD'],
  ['idents', ['nonsense'], 'INVALID_PAYLOAD'],
  ['moods', ['angry'], 'INVALID_PAYLOAD'],
  ['mood', 'angry', 'INVALID_PAYLOAD'],
  ['address', 'nowhere', 'INVALID_PAYLOAD'],
  ['span', 'long', 'INVALID_PAYLOAD'],
  ['bytes', '\\x00', 'INVALID_PAYLOAD'],
  ['bytes', 'AP8', 'INVALID_PAYLOAD'],
  ['blobs', ['AP8'], 'INVALID_PAYLOAD'],
];

describe('column types, written and read over /items', () => {
  let database: FreshDatabase;
  let service: InProcessService;
  before(async () => {
    database = await createMigratedDatabase('conf_types');
    await database.query(`
      create type mood as enum ('happy', 'sad');
      create domain positive as int check (value > 0);
      create table thing (
        id serial primary key, small smallint, int integer, big bigint, exact numeric(10, 2), free numeric, single real,
        double double precision, flag boolean, short varchar(8), fixed char(5), words text, ident uuid, day date,
        clock time, plain timestamp, moment timestamptz, doc jsonb, doctext json, texts text[], ints int[], bigs bigint[],
        exacts numeric[], moments timestamptz[], plains timestamp[], days date[], flags boolean[], idents uuid[],
        docs jsonb[], blobs bytea[], stamps timestamptz[], moods mood[], grid int[][], mood mood, bytes bytea, address inet, span interval, period int4range,
        tags text, positive positive, words_index tsvector generated always as (to_tsvector('simple', coalesce(words, ''))) stored,
        twice bigint generated always as (int::bigint * 2) stored
      )`);
    service = await startService({ database });
    await send('PATCH', '/fields/thing/tags', { meta: { special: ['cast-csv'] } });
  });
  after(async () => {
    await service?.stop();
    await database?.drop();
  });
  const send = (method: string, path: string, body?: unknown) =>
    service.request(method, path, { token: service.admin.token, body });

  for (const [column, written, read = written] of ROUND_TRIPS) {
    it(`${column} is read back after ${JSON.stringify(written)} was written`, async () => {
      const created = await send('POST', `/items/thing?fields=id,${column}`, { [column]: written });
      expect(created.body.data?.[column], JSON.stringify(created.body)).to.deep.equal(read);
      const path = `/items/thing/${created.body.data.id}?fields=${column}`;
      await send('PATCH', `/items/thing/${created.body.data.id}`, { [column]: null });
      expect((await send('GET', path)).body.data).to.deep.equal({ [column]: null });
      expect((await send('PATCH', path, { [column]: written })).body.data).to.deep.equal({ [column]: read });
    });
  }

  for (const [column, written, code] of REFUSED) {
    it(`${column} rejects ${JSON.stringify(written)} with ${code}`, async () => {
      const { status, body } = await send('POST', '/items/thing', { [column]: written });
      expect([status, body.errors?.[0].extensions.code], JSON.stringify(body)).to.deep.equal([400, code]);
      expect(body.errors[0].extensions, JSON.stringify(body)).to.include({ field: column });
    });
  }

  const FINDS: readonly [column: string, operator: string, operand: string, finds: boolean][] = [
    ['bytes', '_eq', 'AP8Q', true],
    ['bytes', '_neq', 'AP8Q', false],
    ['bytes', '_in', 'AP8Q,AQ%3D%3D', true],
    ['bytes', '_starts_with', 'AP', true],
    ['bytes', '_empty', 'true', false],
    ['mood', '_eq', 'happy', true],
    ['mood', '_in', 'sad', false],
    ['mood', '_in', 'sad,happy', true],
    ['mood', '_contains', 'app', true],
    ['address', '_eq', '10.0.0.1/32', true],
    ['clock', '_gt', '13:00', true],
    ['span', '_nnull', 'true', true],
    ['texts', '_null', 'true', false],
    ['tags', '_contains', 'a,b', true],
    ['big', '_eq', '9223372036854775807', true],
    ['exact', '_gt', '99999.9', false],
    ['single', '_eq', '0.1', true],
    ['moment', '_eq', '2024-02-29T15:30:05.678%2B02:00', true],
    ['day', '_between', '2024-02-28,2024-03-01', true],
    ['flag', '_eq', 'true', true],
    ['ident', '_in', UUID.toUpperCase(), true],
  ];
  for (const [column, operator, operand, finds] of FINDS) {
    it(`the filter ${column} ${operator} ${operand} ${finds ? 'finds' : 'does not find'} its row`, async () => {
      await database.query(`insert into thing (id, bytes, mood, address, clock, span, texts, tags, big, exact, single, moment, day, flag, ident)
        values (8000, '\\x00ff10', 'happy', '10.0.0.1', '13:30', '1 day', '{a}', 'a,b', 9223372036854775807, 1.5, 0.1,
          '2024-02-29T13:30:05.678Z', '2024-02-29', true, '${UUID}') on conflict do nothing`);
      const { status, body } = await send(
        'GET',
        `/items/thing?fields=id&filter[id]=8000&filter[${column}][${operator}]=${operand}`,
      );
      expect([status, body.data], JSON.stringify(body)).to.deep.equal([200, finds ? [{ id: 8000 }] : []]);
    });
  }

  it('search vectors are in an answer where they are named, but not by "*"', async () => {
    const { body } = await send('POST', '/items/thing', { words: 'two words' });
    expect(body.data).to.include({ words: 'two words' }).and.not.have.property('words_index');
    const named = await send('GET', `/items/thing/${body.data.id}?fields=words_index`);
    expect(named.body.data).to.deep.equal({ words_index: "'two':1 'words':2" });
  });

  it('generated columns reject values and accept null', async () => {
    for (const [field, value] of [
      ['twice', 99],
      ['words_index', "'a':1"],
    ] as const) {
      const { status, body } = await send('POST', '/items/thing', { int: 4, [field]: value });
      expect(status).to.equal(400);
      expect(body.errors[0].extensions).to.deep.include({ code: 'INVALID_PAYLOAD', field, path: [field] });
    }
    const { body } = await send('POST', '/items/thing', { int: 4, twice: null });
    expect(body.data).to.include({ int: 4, twice: '8' });
    const changed = await send('PATCH', `/items/thing/${body.data.id}`, { int: 5, twice: 8 });
    expect(changed.body.errors?.[0].extensions).to.include({ code: 'INVALID_PAYLOAD', field: 'twice' });
    const absent = await send('PATCH', `/items/thing/${body.data.id}?fields=twice`, { int: 5 });
    expect(absent.body.data).to.deep.equal({ twice: '10' });
  });

  it('filters reject an unknown enum value with its path', async () => {
    for (const [operator, operand, path] of [
      ['_eq', 'angry', ['filter', 'mood', '_eq']],
      ['_in', ['sad', 'angry'], ['filter', 'mood', '_in', 1]],
    ] as const) {
      const { status, body } = await send('SEARCH', '/items/thing', {
        query: { filter: { mood: { [operator]: operand } } },
      });
      expect(status).to.equal(400);
      expect(body.errors[0].extensions).to.deep.include({ code: 'INVALID_QUERY', path });
      expect(body.errors[0].message).to.include('"angry" is not one of happy, sad');
    }
  });

  it('enums are sorted in the order of their values', async () => {
    await database.query(`insert into thing (id, mood) values (8100, 'sad'), (8101, 'happy')`);
    const { body } = await send('GET', '/items/thing?fields=mood&sort=mood&filter[id][_between]=8100,8101');
    expect(body.data).to.deep.equal([{ mood: 'happy' }, { mood: 'sad' }]);
  });

  it('/fields shows the values of an enum and generated columns', async () => {
    const field = async (name: string) => (await send('GET', `/fields/thing/${name}`)).body.data;
    const mood = await field('mood');
    expect(mood.schema.enum_values).to.deep.equal(['happy', 'sad']);
    expect(mood.meta).to.deep.include({
      interface: 'select-dropdown',
      options: {
        choices: [
          { text: 'happy', value: 'happy' },
          { text: 'sad', value: 'sad' },
        ],
      },
    });
    expect((await field('moods')).meta.interface).to.equal('select-multiple-dropdown');
    expect((await field('twice')).schema).to.deep.include({
      is_generated: true,
      generation_expression: '(("int")::bigint * 2)',
      enum_values: null,
    });
    expect((await field('words_index')).schema).to.include({ is_generated: true, data_type: 'tsvector' });
  });

  it('infinite timestamps and numbers that JSON cannot represent are read as texts', async () => {
    await database.query(`insert into thing (id, moment, plain, day, double) values
      (9001, 'infinity', '-infinity', 'infinity', 'NaN'), (9002, '0044-03-15 12:00:00+00 BC', '12024-01-01', '0044-03-15 BC', '-Infinity')`);
    const { status, body } = await send('GET', '/items/thing?fields=moment,plain,day,double&filter[id][_gt]=9000');
    expect(status).to.equal(200);
    expect(body.data[0]).to.deep.equal({ moment: 'infinity', plain: '-infinity', day: 'infinity', double: 'NaN' });
    expect(body.data[1].double).to.equal('-Infinity');
  });
});

describe('primary keys of every type', () => {
  let database: FreshDatabase;
  let service: InProcessService;
  before(async () => {
    database = await createMigratedDatabase('conf_keys');
    await database.query(`
      create table by_uuid (id uuid primary key default gen_random_uuid(), name text);
      create table by_plain_uuid (id uuid primary key, name text);
      create table by_text (code text primary key, name text);
      create table by_short (code varchar(5) primary key, name text);
      create table by_big (id bigint primary key generated by default as identity, name text);
      create table by_always (id int primary key generated always as identity, name text);
      create table by_small (id smallserial primary key, name text);
      create table by_number (id numeric primary key, name text);
      create table by_day (id date primary key, name text);
      create table "Odd ""Table" ("Key" serial primary key, "a b" text, "select" int);
      create table child (id serial primary key, up bigint references by_big, code varchar(5) references by_short);
    `);
    service = await startService({ database });
  });
  after(async () => {
    await service?.stop();
    await database?.drop();
  });
  const send = (method: string, path: string, body?: unknown) =>
    service.request(method, path, { token: service.admin.token, body });

  const KINDS: readonly [table: string, key: string, keyToWrite: unknown, read: unknown, path: string][] = [
    ['by_uuid', 'id', UUID, UUID, UUID.toUpperCase()],
    ['by_text', 'code', 'a/b c?ü', 'a/b c?ü', encodeURIComponent('a/b c?ü')],
    ['by_text', 'code', '12', '12', '12'],
    ['by_short', 'code', 'abcde', 'abcde', 'abcde'],
    ['by_big', 'id', '9223372036854775807', '9223372036854775807', '9223372036854775807'],
    ['by_small', 'id', 7, 7, '7'],
    ['by_number', 'id', '1.5', '1.5', '1.5'],
    ['by_day', 'id', '2024-02-29', '2024-02-29', '2024-02-29'],
  ];
  for (const [table, key, keyToWrite, read, path] of KINDS) {
    it(`${table} reads, changes and deletes the row with the key ${keyToWrite}`, async () => {
      const created = await send('POST', `/items/${table}`, { [key]: keyToWrite, name: 'a' });
      expect(created.body, JSON.stringify(created.body)).to.deep.equal({ data: { [key]: read, name: 'a' } });
      expect((await send('GET', `/items/${table}/${path}`)).body.data).to.deep.equal({ [key]: read, name: 'a' });
      expect((await send('SEARCH', `/items/${table}`, { keys: [keyToWrite] })).body.data).to.deep.equal([
        { [key]: read, name: 'a' },
      ]);
      expect((await send('PATCH', `/items/${table}/${path}`, { name: 'b' })).body.data).to.deep.equal({
        [key]: read,
        name: 'b',
      });
      const keys = await send('PATCH', `/items/${table}`, { keys: [keyToWrite], data: { name: 'c' } });
      expect(keys.body.data).to.deep.equal([{ [key]: read, name: 'c' }]);
      const each = await send('PATCH', `/items/${table}`, [{ [key]: keyToWrite, name: 'd' }]);
      expect(each.body.data).to.deep.equal([{ [key]: read, name: 'd' }]);
      expect((await send('GET', `/items/${table}?filter[${key}][_eq]=${path}`)).body.data).to.have.length(1);
      expect((await send('DELETE', `/items/${table}`, [keyToWrite])).status).to.equal(204);
      expect((await send('GET', `/items/${table}/${path}`)).status).to.equal(403);
    });
  }

  it('generated keys are made by the database', async () => {
    for (const table of ['by_uuid', 'by_big', 'by_always', 'by_small']) {
      const { status, body } = await send('POST', `/items/${table}`, { name: 'a' });
      expect(status, table).to.equal(200);
      expect(body.data.id, table).to.be.ok;
    }
  });

  it('a key without a default is required', async () => {
    for (const [table, field] of [
      ['by_text', 'code'],
      ['by_plain_uuid', 'id'],
      ['by_number', 'id'],
    ] as const) {
      const { body } = await send('POST', `/items/${table}`, { name: 'a' });
      expect(body.errors[0].extensions, table).to.deep.include({ code: 'FAILED_VALIDATION', field, type: 'required' });
    }
  });

  it('an overlong key never finds a shorter one', async () => {
    await send('POST', '/items/by_short', { code: 'abcde', name: 'keep' });
    expect((await send('GET', '/items/by_short/abcdefgh')).status).to.equal(403);
    expect((await send('PATCH', '/items/by_short/abcdefgh', { name: 'x' })).status).to.equal(403);
    expect((await send('SEARCH', '/items/by_short', { keys: ['abcdefgh'] })).body.data).to.deep.equal([]);
    await send('DELETE', '/items/by_short/abcdefgh');
    expect(await database.query('select name from by_short')).to.deep.equal([{ name: 'keep' }]);
    const child = await send('POST', '/items/child', { code: 'abcdefgh' });
    expect(child.body.errors[0].extensions).to.include({ code: 'VALUE_TOO_LONG', field: 'code' });
  });

  it('a key outside of its type is answered like a missing row', async () => {
    for (const path of [
      '/items/by_small/99999',
      '/items/by_big/99999999999999999999',
      '/items/by_always/3000000000',
      '/items/by_uuid/1',
      '/items/by_number/x',
      '/items/by_day/x',
      '/items/by_always/1.5',
      '/items/by_always/%20',
    ]) {
      expect((await send('GET', path)).status, path).to.equal(403);
      expect((await send('PATCH', path, { name: 'x' })).status, path).to.equal(403);
    }
    expect((await send('SEARCH', '/items/by_small', { keys: [99999] })).body).to.deep.equal({ data: [] });
  });

  it('a number that JSON could not represent never means another one', async () => {
    await send('POST', '/items/by_big', [
      { id: '9007199254740992', name: 'two' },
      { id: '9007199254740993', name: 'three' },
    ]);
    const patched = await send('PATCH', '/items/by_big', '{"keys":[9007199254740993],"data":{"name":"x"}}');
    expect(patched.status).to.equal(403);
    const created = await send('POST', '/items/child', '{"up":9007199254740993}');
    expect(created.body.errors[0].extensions).to.deep.equal({
      code: 'FAILED_VALIDATION',
      field: 'up',
      path: [],
      type: 'unsafe',
    });
    const found = await send('SEARCH', '/items/by_big', '{"query":{"filter":{"id":{"_eq":9007199254740993}}}}');
    expect([found.status, found.body.errors[0].extensions.code]).to.deep.equal([400, 'INVALID_QUERY']);
    await send('DELETE', '/items/by_big', ['9007199254740992', '9007199254740993']);
  });

  it('/fields says that an identity column is generated by the database', async () => {
    const { status, body } = await send('POST', '/items/by_always', { id: 77, name: 'a' });
    expect([status, body.errors[0].extensions.code, body.errors[0].extensions.field]).to.deep.equal([
      400,
      'INVALID_PAYLOAD',
      'id',
    ]);
    await database.query('truncate by_always restart identity');
    await send('POST', '/items/by_always', [{ name: 'a' }, {}]);
    const each = await send('PATCH', '/items/by_always', [
      { id: 1, name: 'A' },
      { id: 2, name: 'B' },
    ]);
    expect(each.body.data).to.deep.equal([
      { id: 1, name: 'A' },
      { id: 2, name: 'B' },
    ]);
    const whole = await send('PATCH', '/items/by_always/1', { id: 1, name: 'again' });
    expect(whole.body.data).to.deep.equal({ id: 1, name: 'again' });
    expect((await send('PATCH', '/items/by_always/1', { id: 5 })).body.errors[0].extensions.field).to.equal('id');
  });

  it('PATCH answers the row under its new key when the key is changed', async () => {
    await send('POST', '/items/by_text', { code: 'old', name: 'a' });
    const { status, body } = await send('PATCH', '/items/by_text/old', { code: 'new' });
    expect([status, body]).to.deep.equal([200, { data: { code: 'new', name: 'a' } }]);
  });

  it('table and column names of any characters are quoted', async () => {
    const path = `/items/${encodeURIComponent('Odd "Table')}`;
    const created = await send('POST', path, { 'a b': 'x', select: 1 });
    expect(created.body.data).to.deep.equal({ Key: 1, 'a b': 'x', select: 1 });
    const found = await send('GET', `${path}?filter[a b][_eq]=x&sort=-select&fields=Key,a b&search=x`);
    expect(found.body.data).to.deep.equal([{ Key: 1, 'a b': 'x' }]);
  });

  it('64-bit keys stay exact through relations', async () => {
    await send('POST', '/items/by_big', { id: '9007199254740993', name: 'a' });
    const { body } = await send('POST', '/items/child?fields=up,id', { up: '9007199254740993' });
    expect(body.data.up).to.equal('9007199254740993');
    const nested = await send('GET', `/items/child?fields=up.id,up.name&filter[up][_eq]=9007199254740993`);
    expect(nested.body.data).to.deep.equal([{ up: { id: '9007199254740993', name: 'a' } }]);
    const object = await send('POST', '/items/child?fields=up.name', { up: { id: '9007199254740993', name: 'b' } });
    expect(object.body.data).to.deep.equal({ up: { name: 'b' } });
  });
});

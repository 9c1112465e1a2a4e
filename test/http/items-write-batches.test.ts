import { expect } from 'chai';
import { recordStatementsDuring } from '../support/capture-sql-statements.ts';
import { createSeededRandom } from '../support/random.ts';
import { type InProcessService, startService } from '../support/service.ts';
import { requestAsAdmin } from './test-users.ts';

const TEXTS = [
  '',
  ' ',
  'null',
  'NULL',
  '{}',
  '{a,b}',
  ',',
  '"',
  '\\',
  '\\\\"',
  "it's",
  'line\nbreak',
  '\t',
  'é',
  '🙂',
  '$1',
  '%s',
  null,
];
const VALUES: Readonly<Record<string, readonly unknown[]>> = {
  text: TEXTS,
  short: ['', 'a', '"', '\\', '🙂', null],
  fixed: ['abc   ', 'a"b\\c ', '🙂     ', null],
  small: [0, -32768, 32767, '7', null],
  whole: [0, -2147483648, 2147483647, '12', null],
  big: ['9223372036854775807', '-9223372036854775808', 5, null],
  price: ['12.50', 0.005, -99999999.99, '1e2', null],
  weight: [0.1, -1e-300, 1e300, 'NaN', 'Infinity', '-Infinity', null],
  done: [true, false, 'true', 0, null],
  tag: ['0e984725-c51c-4bf4-9960-e1c80e27aba0', null],
  born: ['2026-02-28', null],
  created_at: ['2026-02-28T12:30:00', null],
  seen: ['2026-02-28T12:30:00.123Z', '2026-02-28T12:30:00+05:00', null],
  clock: ['13:30:00', null],
  data: [{ a: 'é"\\{},' }, ['x', null], 'text', 'null', 7, true, { 'a,b': [[]] }, null],
  plain: [{ b: '"' }, [], null],
};

describe('POST /items/<collection> with many rows', () => {
  let service: InProcessService;
  before(async () => {
    service = await startService();
    await service.database.query(`
      create type mood as enum ('glad', 'sad');
      create table thing (id serial primary key, text text, short varchar(3), fixed char(6), small smallint, whole int, big bigint,
        price numeric(10,2), weight float8, done boolean, tag uuid, born date, created_at timestamp, seen timestamptz, clock time, data jsonb,
        plain json, list text[], feeling mood, address inet, filled int not null default 5);
      create table picky (id serial primary key, whole int, price numeric(4,2), text text)`);
  });
  after(() => service?.stop());

  const create = (body: unknown, path = '/items/thing') => requestAsAdmin(service, 'POST', `${path}?limit=-1`, body);
  const post = (body: unknown, path: string) => service.request('POST', path, { token: service.admin.token, body });
  const without = ({ id: _, ...row }: Record<string, unknown>) => row;

  it('stores each value as for a single row, whatever characters it has', async () => {
    const { one } = createSeededRandom(7);
    const rows = Array.from({ length: 300 }, () =>
      Object.fromEntries(Object.entries(VALUES).map(([name, values]) => [name, one(values)])),
    );
    const together: Record<string, unknown>[] = await create(rows);
    const single: Record<string, unknown>[] = [];
    for (const row of rows.slice(0, 60)) single.push(await create(row));
    expect(together.slice(0, 60).map(without)).to.deep.equal(single.map(without));
    for (const [name, values] of Object.entries(VALUES))
      expect(new Set(rows.map((row) => row[name])).size, name).to.equal(new Set(values).size);
    const keys = together.map(({ id }) => id as number);
    expect(keys, 'in the order sent').to.deep.equal(keys.map((_, at) => (keys[0] as number) + at));
  });

  it('fills in defaults for omitted columns, and accepts lists, enums and addresses', async () => {
    const rows = [
      { text: 'a', filled: 7 },
      { text: 'b' },
      { list: ['x', 'a,b', '"'], feeling: 'glad', address: '10.0.0.7' },
      { list: [], feeling: null },
    ];
    const created: Record<string, unknown>[] = await create(rows);
    expect(created.map(({ filled }) => filled)).to.deep.equal([7, 5, 5, 5]);
    expect(created.map(({ list }) => list)).to.deep.equal([null, null, ['x', 'a,b', '"'], []]);
    const alike: Record<string, unknown>[] = await create([
      { feeling: 'sad', list: ['y'] },
      { feeling: 'glad', list: null },
    ]);
    expect(alike.map(({ feeling, list }) => [feeling, list])).to.deep.equal([
      ['sad', ['y']],
      ['glad', null],
    ]);
  });

  it('names the field and the row of an invalid value, but not the value', async () => {
    const rows = Array.from({ length: 50 }, (_, at) => ({
      whole: at === 31 ? 3_000_000_000 : 1000 + at,
      text: `secret ${at}`,
    }));
    const { status, body } = await post(rows, '/items/picky');
    expect(status).to.equal(400);
    expect(body.errors[0].extensions).to.deep.include({
      code: 'VALUE_OUT_OF_RANGE',
      field: 'whole',
      path: [31, 'whole'],
    });
    expect(JSON.stringify(body)).not.to.match(/secret|1030|3000000000/);
    expect(await service.database.query('select from picky')).to.deep.equal([]);
  });

  it('does not change the cached statement of one row by the last row of a batch with other columns', async () => {
    const rows = Array.from({ length: 5001 }, (_, at) => (at < 5000 ? { whole: at, text: 'x' } : { whole: at }));
    expect(await create(rows, '/items/picky')).to.have.length(5001);
    const both = await create({ whole: 5002, text: 'y' }, '/items/picky');
    expect(both).to.include({ whole: 5002, text: 'y' });
    await service.database.query('truncate picky');
  });

  it('runs one statement, the same for any number of rows', async () => {
    const inserts = new Set<string>();
    for (const count of [2, 3, 999, 1000]) {
      const rows = Array.from({ length: count }, (_, at) => ({ whole: at, price: '1.50', text: 'x' }));
      const statements = await recordStatementsDuring(async () =>
        expect(await create(rows, '/items/picky')).to.have.length(count),
      );
      const writing = statements.filter((text) => text.includes('insert into'));
      expect(writing, `${count} rows`).to.have.length(1);
      inserts.add(writing[0] as string);
    }
    expect(inserts.size).to.equal(1);
  });
});

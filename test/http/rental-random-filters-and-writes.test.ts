import { expect } from 'chai';
import { createSeededRandom, type SeededRandom } from '../support/random.ts';
import {
  itemPath,
  type RentalTestService,
  type AnyRow as Row,
  startRentalTestService,
} from '../support/rental-schema-service.ts';

type Filter = Record<string, unknown>;

const FILTERS = 100;
const WRITES = 80;

const HALLS = [
  'Big',
  'a,b',
  'c~d',
  'e/f',
  '50% off',
  'g h',
  '~0~1',
  ',',
  '~',
  '~1,~0',
  '',
  ' ',
  'ß?&=#',
  '"',
  "'",
  '\\',
];
const DAYS = ['2026-01-01', '2026-01-08', '2026-02-28', '2027-12-31'];

const COLUMNS = 'hall, shown_on, seats, film_id, previous_hall, previous_shown_on';

const keyOf = ({ hall, shown_on }: Row): string => `${hall.replaceAll('~', '~0').replaceAll(',', '~1')},${shown_on}`;

/** The row that the composite foreign key `screening.screening` of a row refers to. */
const previousOf = (row: Row, all: readonly Row[]): Row | undefined =>
  all.find((one) => one.hall === row.previous_hall && one.shown_on === row.previous_shown_on);

/** Stands for the row of a many-to-one without a target: no comparison holds for it. */
const NO_ROW: Row = {
  hall: '',
  shown_on: '',
  seats: Number.NaN,
  film_id: null,
  previous_hall: null,
  previous_shown_on: null,
};

/** A random filter, and the same condition as a function. There "unknown" of SQL is false, so filters have no negation. */
interface DrawnFilter {
  readonly filter: Filter;
  takes(row: Row, all: readonly Row[]): boolean;
}

function drawFilter(random: SeededRandom, depth: number): DrawnFilter {
  const { one, chance, upTo } = random;
  const of = (filter: Filter, takes: DrawnFilter['takes']): DrawnFilter => ({ filter, takes });
  if (depth > 0 && chance(0.35)) {
    const parts = Array.from({ length: 2 + upTo(2) }, () => drawFilter(random, depth - 1));
    const isAnd = chance(0.5);
    return of({ [isAnd ? '_and' : '_or']: parts.map(({ filter }) => filter) }, (row, all) =>
      isAnd ? parts.every(({ takes }) => takes(row, all)) : parts.some(({ takes }) => takes(row, all)),
    );
  }
  if (depth > 0 && chance(0.4)) {
    const inner = drawFilter(random, depth - 1);
    return of({ screening: inner.filter }, (row, all) => {
      const previous = previousOf(row, all);
      return inner.takes(previous ?? NO_ROW, all);
    });
  }
  const key = () => keyOf({ hall: one(HALLS), shown_on: one(DAYS) });
  const behind = (row: Row) =>
    row.previous_hall === null || row.previous_shown_on === null
      ? null
      : keyOf({ hall: row.previous_hall, shown_on: row.previous_shown_on });
  const filled = HALLS.filter((hall) => hall !== '');
  const draws: (() => DrawnFilter)[] = [
    () => ((hall) => of({ hall: { _eq: hall } }, (row) => row.hall === hall))(one(filled)),
    () => ((halls) => of({ hall: { _in: halls } }, (row) => halls.includes(row.hall)))([one(filled), one(filled)]),
    () =>
      ((part) => of({ hall: { _contains: part } }, (row) => row.hall.includes(part)))(
        one(['~', ',', '%', '/', ' ', '0']),
      ),
    () => ((day) => of({ shown_on: { _gte: day } }, (row) => row.shown_on >= day))(one(DAYS)),
    () => ((seats) => of({ seats: { _lt: seats } }, (row) => row.seats < seats))(upTo(60)),
    () => of({ film_id: { _null: true } }, (row) => row.film_id === null),
    () => ((film) => of({ film_id: { _eq: film } }, (row) => row.film_id === film))(1 + upTo(5)),
    () => ((empty) => of({ screening: { _null: empty } }, (row) => (behind(row) === null) === empty))(chance(0.5)),
    () => ((text) => of({ screening: { _eq: text } }, (row) => behind(row) === text))(key()),
    () =>
      ((texts) => of({ screening: { _in: texts } }, (row) => texts.includes(behind(row) ?? '')))([key(), key(), key()]),
  ];
  return one(draws)();
}

describe('composite keys with random rows and filters', () => {
  let rental: RentalTestService;
  let model: Row[];
  before(async () => {
    rental = await startRentalTestService('rental_property');
    await rental.database.query('truncate screening cascade');
    const { one, chance, upTo } = createSeededRandom(20261123);
    model = HALLS.flatMap((hall) => DAYS.map((shown_on) => ({ hall, shown_on })))
      .filter(() => chance(0.8))
      .map((key) => ({
        ...key,
        seats: upTo(60),
        film_id: chance(0.3) ? null : 1 + upTo(5),
        previous_hall: null,
        previous_shown_on: null,
      }));
    for (const row of model) {
      const previous = one(model);
      // A foreign key with a null column has no target.
      if (chance(0.6)) Object.assign(row, { previous_hall: previous.hall, previous_shown_on: previous.shown_on });
      else if (chance(0.4)) row.previous_hall = previous.hall;
    }
    await rental.database.query(
      `insert into screening (${COLUMNS}) select ${COLUMNS} from json_populate_recordset(null::screening, $1)`,
      [JSON.stringify(model)],
    );
  });
  after(() => rental?.stop());

  const sorted = (keys: readonly string[]) => [...keys].sort();

  it(`REST finds the rows of the in-memory model with ${FILTERS} random filters`, async () => {
    const random = createSeededRandom(7);
    let some = 0;
    for (let at = 0; at < FILTERS; at++) {
      const { filter, takes } = drawFilter(random, 3);
      const expected = model.filter((row) => takes(row, model)).map(keyOf);
      const query = { filter, limit: -1, fields: ['hall', 'shown_on'] };
      const found: Row[] = await rental.ok('SEARCH', '/items/screening', { query });
      expect(sorted(found.map(keyOf)), JSON.stringify(filter)).to.deep.equal(sorted(expected));
      if (expected.length > 0 && expected.length < model.length) some++;
    }
    // Filters that match every row or none would prove nothing.
    expect(some).to.be.greaterThan(FILTERS / 3);
  });

  it('GraphQL finds the rows of the in-memory model with random filters', async () => {
    const random = createSeededRandom(8);
    const query = 'query ($filter: screening_filter) { screening(filter: $filter, limit: -1) { hall shown_on } }';
    for (let at = 0; at < 40; at++) {
      const { filter, takes } = drawFilter(random, 1);
      // GraphQL filters a relation by the fields of its row, not by the text of its key.
      if (/"screening":\{"_|"film_id"/.test(JSON.stringify(filter))) continue;
      const { screening } = await rental.ask(query, { filter });
      const expected = model.filter((row) => takes(row, model)).map(keyOf);
      expect(sorted(screening.map(keyOf)), JSON.stringify(filter)).to.deep.equal(sorted(expected));
    }
  });

  it('each row is read by the text of its key, alone and in a list of keys', async () => {
    for (const row of model) expect(await rental.ok('GET', itemPath('screening', keyOf(row)))).to.include(row);
    const keys = model.map(keyOf).reverse();
    const found: Row[] = await rental.ok('SEARCH', '/items/screening', { keys, query: { limit: -1 } });
    expect(found.map(keyOf)).to.deep.equal(keys);
  });

  it(`the table and the in-memory model have the same rows after ${WRITES} random writes`, async () => {
    const { one, chance, upTo } = createSeededRandom(9);
    const rows = new Map(model.map((row) => [keyOf(row), { ...row }]));
    // The references are removed, so that the model needs no foreign key actions.
    await rental.database.query('update screening set previous_hall = null, previous_shown_on = null');
    for (const row of rows.values()) Object.assign(row, { previous_hall: null, previous_shown_on: null });
    for (let at = 0; at < WRITES; at++) {
      const fresh = { hall: one(HALLS), shown_on: one(DAYS) };
      const isTaken = rows.has(keyOf(fresh));
      const kind = upTo(4);
      const key = one([...rows.keys()]);
      const row = rows.get(key) as Row;
      if (kind === 0) {
        const body = { ...fresh, seats: upTo(60) };
        const [status, code] = await rental.code('POST', '/items/screening', body);
        expect([status, code]).to.deep.equal(isTaken ? [400, 'RECORD_NOT_UNIQUE'] : [200, undefined]);
        if (!isTaken) rows.set(keyOf(body), { ...body, film_id: null, previous_hall: null, previous_shown_on: null });
      } else if (kind === 1) {
        const change = { seats: upTo(60) };
        const keys = chance(0.5) ? [key] : [{ hall: row.hall, shown_on: row.shown_on }];
        await rental.ok('PATCH', '/items/screening', { keys, data: change });
        Object.assign(row, change);
      } else if (kind === 2 && (!isTaken || keyOf(fresh) === key)) {
        const moved = await rental.ok('PATCH', itemPath('screening', key), fresh);
        rows.delete(key);
        rows.set(keyOf(fresh), { ...row, ...fresh });
        expect(keyOf(moved)).to.equal(keyOf(fresh));
      } else if (kind === 3 && rows.size > 10) {
        if (chance(0.5)) await rental.ok('DELETE', itemPath('screening', key));
        else await rental.ok('DELETE', '/items/screening', { keys: [key] });
        rows.delete(key);
      }
    }
    const [stored] = await rental.database.query<{ rows: Row[] }>(
      `select json_agg(s) as rows from (select ${COLUMNS} from screening) s`,
    );
    const text = (all: Iterable<Row>) => [...all].map((row) => JSON.stringify(Object.entries(row).sort())).sort();
    expect(text(stored?.rows ?? [])).to.deep.equal(text(rows.values()));
  });
});

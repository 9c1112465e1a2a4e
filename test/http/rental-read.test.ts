import { expect } from 'chai';
import {
  COMPOSITE_KEY_COLLECTIONS,
  itemPath,
  quotedRentalTableOf,
  RENTAL_COLLECTIONS,
  RENTAL_KEYS,
  RENTAL_VIEW_NAMES,
  type RentalTestService,
  readRentalColumns,
  startRentalTestService,
  storedRows,
} from '../support/rental-schema-service.ts';

/** Column types that this test filters by value and sorts by; `items-column-value-conversion.test.ts` tests filters on other types. */
const SCALAR = /^(integer|bigint|numeric|text|character|date|uuid|boolean|timestamp)[a-z ]*$/;
const DOMAINS = ['film_year', 'positive_number', 'email_address'];

describe('reads of the rental schema', () => {
  let rental: RentalTestService;
  before(async () => {
    rental = await startRentalTestService('rental_read');
  });
  after(() => rental?.stop());

  const list = (path: string) => rental.ok('GET', `/items/${path}`);
  const pick = (row: Record<string, unknown>, names: readonly string[]) =>
    Object.fromEntries(names.map((name) => [name, row[name]]));
  const sorted = (rows: readonly unknown[]) => rows.map((row) => JSON.stringify(row)).sort();

  it('GET /collections lists every table and view of both schemas and no partition', async () => {
    const collections: { collection: string }[] = await rental.ok('GET', '/collections');
    const names = collections.map(({ collection }) => collection).filter((name) => !name.startsWith('platform_'));
    expect(names).to.have.members(RENTAL_COLLECTIONS);
  });

  it('GET /fields marks the columns of a composite key', async () => {
    for (const name of ['film_actor', 'film_category', 'shelf', 'price_change']) {
      const fields: { field: string; schema: { is_primary_key: boolean } | null }[] = await rental.ok(
        'GET',
        `/fields/${name}`,
      );
      const key = fields.filter(({ schema }) => schema?.is_primary_key).map(({ field }) => field);
      expect(key, name).to.have.members(RENTAL_KEYS[name] as string[]);
    }
  });

  for (const name of RENTAL_COLLECTIONS) {
    describe(`GET /items/${name}`, () => {
      it('the list has all rows with all columns and the right counts', async () => {
        const rows = await storedRows(rental.database, name);
        const columns = (await readRentalColumns(rental.database, name)).map((column) => column.name);
        const reply = await rental.send('GET', `/items/${name}?limit=-1&meta=*`);
        expect(reply.status, JSON.stringify(reply.body)).to.equal(200);
        const { data, meta } = reply.body;
        expect(meta).to.deep.equal({ total_count: rows.length, filter_count: rows.length });
        expect(sorted(data.map((row: Record<string, unknown>) => pick(row, columns)))).to.deep.equal(
          sorted(rows.map(({ row }) => pick(row, columns))),
        );
        expect(await list(`${name}?aggregate[count]=*`)).to.deep.equal([{ count: rows.length }]);
      });

      it('pages have all rows and no row twice', async () => {
        const columns = (await readRentalColumns(rental.database, name)).map((column) => column.name);
        const rows = await storedRows(rental.database, name);
        const found: Record<string, unknown>[] = [];
        // Without a key the order of equal rows is undefined, so all columns are sorted by.
        const sort = RENTAL_KEYS[name]
          ? ''
          : columns.map((column) => (column === 'categories' ? '' : `&sort[]=${column}`)).join('');
        for (let page = 1; page <= Math.ceil(rows.length / 20); page++)
          found.push(...(await list(`${name}?limit=20&page=${page}${sort}`)));
        expect(sorted(found.map((row) => pick(row, columns)))).to.deep.equal(
          sorted(rows.map(({ row }) => pick(row, columns))),
        );
      });

      it('every column can be filtered and sorted by', async () => {
        for (const column of await readRentalColumns(rental.database, name)) {
          const field = column.name;
          const isScalar = SCALAR.test(column.type) || DOMAINS.includes(column.type);
          const [counts] = await rental.database.query<{ empty: number; sample: string | null; same: number }>(
            `select count(*) filter (where "${field}" is null)::integer as empty, min("${field}"::text) as sample,
               count(*) filter (where "${field}"::text = (select min("${field}"::text) from ${quotedRentalTableOf(name)}))::integer as same
             from ${quotedRentalTableOf(name)}`,
          );
          const count = async (operator: string, operand: string) => {
            const query = `filter[${encodeURIComponent(field)}][${operator}]=${encodeURIComponent(operand)}`;
            return (await list(`${name}?aggregate[count]=*&${query}`))[0].count;
          };
          expect(await count('_null', 'true'), `${field} _null`).to.equal(counts?.empty);
          if (!isScalar) continue;
          if (counts?.sample != null && counts.sample !== '')
            expect(await count('_eq', counts.sample), `${field} _eq ${counts.sample}`).to.equal(counts.same);
          const rows: Record<string, unknown>[] = await list(
            `${name}?limit=-1&fields[]=${encodeURIComponent(field)}&sort[]=-${encodeURIComponent(field)}`,
          );
          const ordered = await rental.database.query<{ place: string | null }>(
            `select "${field}" as place from (select to_json("${field}")#>>'{}' as "${field}" from ${quotedRentalTableOf(name)} t order by t."${field}" desc) o`,
          );
          const text = (value: unknown) => (value === null ? null : String(value));
          // Answers format timestamps and exact numbers differently from to_json.
          if (/timestamp with|numeric/.test(column.type)) expect(rows).to.have.length(ordered.length);
          else
            expect(
              rows.map((row) => text(row[field])),
              `sort ${field}`,
            ).to.deep.equal(ordered.map(({ place }) => place));
        }
      });

      if (RENTAL_KEYS[name])
        it('single rows are read by the text of their key', async () => {
          const rows = await storedRows(rental.database, name);
          const step = Math.max(1, Math.floor(rows.length / 12));
          for (const { key, row } of rows.filter((_row, at) => at % step === 0)) {
            const found = await rental.ok('GET', itemPath(name, key as string));
            expect(pick(found, Object.keys(row)), String(key)).to.deep.equal(row);
          }
          const keys = rows.slice(0, 6).map(({ key }) => key as string);
          keys.reverse();
          const several = await rental.send('SEARCH', `/items/${name}`, { keys });
          expect(
            several.body.data?.map((row: object) => pick(row as never, RENTAL_KEYS[name] as string[])),
          ).to.deep.equal(
            keys.map((key) => pick(rows.find((row) => row.key === key)?.row as never, RENTAL_KEYS[name] as string[])),
          );
        });
      else
        it('a key is FORBIDDEN, since the collection has no key', async () => {
          for (const key of ['1', '1,2', 'x'])
            expect(await rental.code('GET', itemPath(name, key))).to.deep.equal([403, 'FORBIDDEN']);
        });
    });
  }

  it('a malformed composite key is FORBIDDEN like the key of a missing row', async () => {
    for (const [collection, key] of [
      ['film_actor', '1'],
      ['film_actor', '1,2,3'],
      ['film_actor', '1,'],
      ['film_actor', ',1'],
      ['film_actor', 'a,b'],
      ['film_actor', '99999999999999999999,1'],
      ['film_actor', '999,999'],
      ['film_actor', '1;2'],
      ['film_actor', '{"actor_id":1,"film_id":1}'],
      ['screening', 'Big,yesterday'],
      ['screening', 'a,b,2026-01-01'],
      ['screening', 'c~d,2026-01-01'],
      ['screening', 'a~2b,2026-01-01'],
      ['screening', 'a~,2026-01-01'],
      ['ticket', 'no-uuid,1'],
      ['price_change', '1,noon'],
      ['rating_sheet', 'X,1'],
      ['payment', '2026-02-30,1'],
    ] as const) {
      expect(await rental.code('GET', itemPath(collection, key)), key).to.deep.equal([403, 'FORBIDDEN']);
    }
  });

  it('filters on columns of a composite key find the rows', async () => {
    const halls = async (filter: object) =>
      (await list(`screening?limit=-1&fields=hall,shown_on&filter=${encodeURIComponent(JSON.stringify(filter))}`))
        .length;
    expect(await halls({ hall: { _eq: 'a,b' } })).to.equal(5);
    expect(await halls({ hall: { _in: ['a,b', 'c~d'] } })).to.equal(10);
    expect(await halls({ hall: { _contains: '%' } })).to.equal(5);
    expect(await halls({ hall: { _starts_with: '~0' } })).to.equal(5);
    expect(
      await halls({ _or: [{ _and: [{ hall: 'e/f' }, { shown_on: '2026-01-01' }] }, { hall: { _eq: 'Big' } }] }),
    ).to.equal(6);
  });

  it('tables with composite keys and views can be grouped and aggregated', async () => {
    const groups = await list('payment?aggregate[sum]=amount&groupBy[]=customer_id&sort[]=customer_id&limit=-1');
    const expected = await rental.database.query(
      "select customer_id, json_build_object('amount', sum(amount)::text) as sum from payment group by 1 order by 1",
    );
    expect(
      groups.map((row: { sum: { amount: unknown } }) => ({ ...row, sum: { amount: String(Number(row.sum.amount)) } })),
    ).to.deep.equal(
      expected.map((row) => ({ ...row, sum: { amount: String(Number((row.sum as { amount: string }).amount)) } })),
    );
    expect(await list('film_overview?aggregate[max]=actors')).to.deep.equal(
      await rental.database.query(`select json_build_object('actors', max(actors)) as max from film_overview`),
    );
  });

  it('search finds texts in tables with composite keys and views', async () => {
    const [{ count } = { count: 0 }] = await rental.database.query<{ count: number }>(
      `select count(*)::integer from film_overview where title ilike '%part 2%' or language ilike '%part 2%'`,
    );
    expect(await list('film_overview?search=part 2&limit=-1')).to.have.length(count);
    expect(await list('message?search=customer 3&limit=-1')).to.have.length(3);
  });

  it('export=json and export=csv have the rows of tables with composite keys and views', async () => {
    for (const name of [...COMPOSITE_KEY_COLLECTIONS, ...RENTAL_VIEW_NAMES]) {
      const reply = await rental.send('GET', `/items/${name}?export=json&limit=-1`);
      expect(reply.status, name).to.equal(200);
      expect(reply.body, name).to.have.length((await storedRows(rental.database, name)).length);
    }
    const csv = await rental.send(
      'GET',
      '/items/screening?export=csv&limit=1&fields=hall,shown_on&filter[hall]=c~d&sort=shown_on',
    );
    expect(csv.body.trim().split(/\r?\n/)[1].replaceAll('"', '')).to.equal('c~d,2026-01-01');
  });

  it('GET /collections and GET /fields show comments of tables and columns', async () => {
    expect((await rental.ok('GET', '/collections/film_actor')).schema.comment).to.equal('Who plays in which film');
    expect((await rental.ok('GET', '/fields/film/release_year')).schema.comment).to.equal('Year of the first showing');
  });
});

import { expect } from 'chai';
import {
  COMPOSITE_KEY_COLLECTIONS,
  itemPath,
  RENTAL_COLLECTIONS,
  RENTAL_KEYS,
  RENTAL_VIEW_NAMES,
  type RentalTestService,
  type AnyRow as Row,
  readRentalColumns,
  startRentalTestService,
  storedRows,
} from '../support/rental-schema-service.ts';

/** Column types whose values GraphQL and REST answer in the same format; the test compares only such columns. */
const APART = /^(integer|bigint|numeric|text|character varying|character|date|uuid|boolean)$/;

const BATCH = '00000000-0000-4000-8000-00000000cccc';

/** Composite keys as literals of GraphQL, and as the texts that REST uses. */
const BY_ID: readonly [collection: string, key: string, text: string][] = [
  ['film_actor', '{ actor_id: 3, film_id: 5 }', '3,5'],
  ['film_category', '{ category_id: 1, film_id: 4 }', '1,4'],
  ['film_copy', '{ film_id: 3, copy_no: 1 }', '3,1'],
  ['shelf', '{ store: 2, aisle: "A,1", level: 1 }', '2,A~11,1'],
  ['screening', '{ hall: "~0~1", shown_on: "2026-01-01" }', '~00~01,2026-01-01'],
  ['ticket', '{ batch: "00000000-0000-4000-8000-000000000001", seat: 2 }', '00000000-0000-4000-8000-000000000001,2'],
  ['rating_sheet', '{ rating: "PG-13", sheet: "9007199254740993" }', 'PG-13,9007199254740993'],
  ['payment', '{ paid_on: "2026-01-06", payment_id: "1" }', '2026-01-06,1'],
  ['message', '{ channel: "sms, urgent", message_id: 2 }', 'sms~1 urgent,2'],
  ['exchange_rate', '{ currency: "EUR", valid_on: "2026-01-02" }', 'EUR,2026-01-02'],
  ['shift_film', '{ employee: "Employee 1", day: "2026-01-01", film_id: 2 }', 'Employee 1,2026-01-01,2'],
];

describe('/graphql over the tables of a rental company', () => {
  let rental: RentalTestService;
  before(async () => {
    rental = await startRentalTestService('rental_graphql');
    const alias = { field: 'cast', type: 'alias', meta: { special: ['m2m'] } };
    await rental.ok('POST', '/fields/film', alias);
    const meta = { one_field: 'cast', junction_field: 'actor_id', one_deselect_action: 'delete' };
    await rental.ok('PATCH', '/relations/film_actor/film_id', { meta });
    await rental.ok('POST', '/fields/screening', { field: 'tickets', type: 'alias', meta: { special: ['o2m'] } });
    await rental.send('PATCH', '/relations/ticket/screening', { meta: { one_field: 'tickets' } });
  });
  after(() => rental?.stop());

  const ask = (query: string, variables?: object) => rental.ask(query, variables);
  const rows = <T = Row>(text: string, params?: unknown[]) => rental.database.query<T>(text, params);
  const sdl = async () => String((await rental.send('GET', '/server/specs/graphql')).body);

  for (const name of RENTAL_COLLECTIONS) {
    it(`${name}: all rows are listed and counted`, async () => {
      const relations: { collection: string; field: string }[] = await rental.ok('GET', '/relations');
      const isLink = (field: string) => relations.some((one) => one.collection === name && one.field === field);
      const columns = (await readRentalColumns(rental.database, name)).filter(
        (column) => APART.test(column.type) && /^\w+$/.test(column.name),
      );
      const fields = columns.map((column) => column.name).filter((field) => !isLink(field));
      const stored = await storedRows(rental.database, name);
      const data = await ask(
        `{ ${name}(limit: -1) { __typename ${fields.join(' ')} } ${name}_aggregated { countAll } }`,
      );
      expect(data[`${name}_aggregated`]).to.deep.equal([{ countAll: stored.length }]);
      const texts = (found: readonly Row[]) =>
        found
          .map((row) =>
            JSON.stringify(
              fields.map((field) =>
                row[field] === null ? null : /^-?[\d.]+$/.test(row[field]) ? Number(row[field]) : row[field],
              ),
            ),
          )
          .sort();
      expect(texts(data[name])).to.deep.equal(texts(stored.map(({ row }) => row)));
    });
  }

  it('a key of several columns is an input type, and tables without a key have no field for single rows', async () => {
    const text = await sdl();
    const input = /input film_actor_key_input \{([^}]*)\}/
      .exec(text)?.[1]
      ?.trim()
      .split(/\s*\n\s*/);
    expect(input).to.have.members(['actor_id: Int!', 'film_id: Int!']);
    for (const name of COMPOSITE_KEY_COLLECTIONS) {
      expect(text, name).to.include(`${name}_by_id(id: ${name}_key_input!)`);
      expect(text, name).to.include(`update_${name}_item(id: ${name}_key_input!`);
      expect(text, name).to.include(`delete_${name}_item(id: ${name}_key_input!)`);
    }
    expect(text).to.include('create_visit_item(');
    for (const name of ['visit', ...RENTAL_VIEW_NAMES]) {
      for (const field of [`${name}_by_id`, `update_${name}_item`, `delete_${name}_item`])
        expect(text).not.to.include(`${field}(`);
    }
  });

  for (const [collection, key, text] of BY_ID) {
    it(`${collection}_by_id reads ${text}`, async () => {
      const relations: { collection: string; field: string }[] = await rental.ok('GET', '/relations');
      const plain = (RENTAL_KEYS[collection] as string[]).filter(
        (field) => !relations.some((one) => one.collection === collection && one.field === field),
      );
      const data = await ask(`{ ${collection}_by_id(id: ${key}) { __typename ${plain.join(' ')} } }`);
      const expected = await rental.ok('GET', itemPath(collection, text));
      const found = data[`${collection}_by_id`];
      // GraphQL answers the enum value "PG-13" by its GraphQL name.
      const texts = plain.map((field) => String(expected[field]).replace('PG-13', 'PG_u002D_13'));
      expect(plain.map((field) => String(found?.[field]))).to.deep.equal(texts);
    });
  }

  it('single rows are read by variables, and a missing row is null', async () => {
    const query = 'query ($id: film_actor_key_input!) { film_actor_by_id(id: $id) { role actor_id { name } } }';
    const [expected] = await rows(
      'select role, name from film_actor join actor using (actor_id) where (actor_id, film_id) = (3, 5)',
    );
    expect(await ask(query, { id: { actor_id: 3, film_id: 5 } })).to.deep.equal({
      film_actor_by_id: { role: expected?.role, actor_id: { name: expected?.name } },
    });
    const { body } = await rental.send('POST', '/graphql', { query, variables: { id: { actor_id: 1, film_id: 999 } } });
    expect(body.data?.film_actor_by_id ?? null).to.equal(null);
    const half = await rental.send('POST', '/graphql', { query, variables: { id: { actor_id: 1 } } });
    expect(half.body.errors[0].message).to.be.a('string');
    expect(half.status).to.be.within(200, 400);
  });

  it('relations from and to keys of several columns are read, nested and filtered', async () => {
    const data = await ask(`{
      ticket(limit: -1, sort: ["batch", "seat"], filter: { screening: { seats: { _gt: 22 } } }) {
        seat screening { hall film_id { title } screening { shown_on } tickets(sort: ["seat"]) { seat } }
      } }`);
    expect(data.ticket).to.deep.equal(
      await rows(`select t.seat, json_build_object('hall', s.hall,
          'film_id', case when f.film_id is not null then json_build_object('title', f.title) end,
          'screening', case when s.previous_hall is not null then json_build_object('shown_on', s.previous_shown_on) end,
          'tickets', (select json_agg(json_build_object('seat', o.seat) order by o.seat) from ticket o where (o.hall, o.shown_on) = (s.hall, s.shown_on))) as screening
        from ticket t join screening s using (hall, shown_on) left join film f using (film_id) where s.seats > 22 order by t.batch, t.seat`),
    );
    const films = await ask(
      '{ film(limit: -1, sort: ["film_id"], filter: { cast: { actor_id: { name: { _eq: "Actor A" } } } }) { title cast(sort: ["actor_id"]) { role actor_id { name } } } }',
    );
    expect(films.film).to.deep.equal(
      await rows(`select f.title, (select json_agg(json_build_object('role', role, 'actor_id', json_build_object('name', a.name)) order by a.actor_id)
          from film_actor fa join actor a using (actor_id) where fa.film_id = f.film_id) as cast
        from film f where exists (select from film_actor where film_id = f.film_id and actor_id = 1) order by f.film_id`),
    );
  });

  it('rows are created, updated and deleted by keys of several columns', async () => {
    const stored = () => rows('select copy_no, condition from film_copy where film_id = 33 order by copy_no');
    const written = await ask(
      'mutation ($data: [create_film_copy_input!]) { create_film_copy_items(data: $data) { copy_no format } }',
      {
        data: [
          { film_id: { film_id: 33 }, copy_no: 1 },
          { film_id: { film_id: 33 }, copy_no: 2 },
          { film_id: { film_id: 33 }, copy_no: 3 },
        ],
      },
    );
    expect(written.create_film_copy_items).to.deep.equal([1, 2, 3].map((copy_no) => ({ copy_no, format: 'DVD' })));
    await ask(
      'mutation { update_film_copy_item(id: { film_id: 33, copy_no: 1 }, data: { condition: "one" }) { condition } }',
    );
    await ask(
      'mutation { update_film_copy_items(ids: [{ film_id: 33, copy_no: 2 }, { film_id: 33, copy_no: 3 }], data: { condition: "many" }) { condition } }',
    );
    expect(await stored()).to.deep.equal([
      { copy_no: 1, condition: 'one' },
      { copy_no: 2, condition: 'many' },
      { copy_no: 3, condition: 'many' },
    ]);
    await ask('mutation { delete_film_copy_item(id: { film_id: 33, copy_no: 2 }) { id } }');
    expect(await stored()).to.have.length(2);
    await ask(
      'mutation { delete_film_copy_items(ids: [{ film_id: 33, copy_no: 1 }, { film_id: 33, copy_no: 3 }]) { ids } }',
    );
    expect(await stored()).to.deep.equal([]);
  });

  it('keys of texts, dates and UUIDs are written', async () => {
    await ask(
      `mutation { create_ticket_item(data: { batch: "${BATCH}", seat: 1, hall: "a,b", shown_on: "2026-01-01" }) { seat } }`,
    );
    const id = `{ batch: "${BATCH}", seat: 1 }`;
    const changed = await ask(
      `mutation { update_ticket_item(id: ${id}, data: { price: 5 }) { price screening { hall } } }`,
    );
    expect(changed.update_ticket_item).to.deep.equal({ price: 5, screening: { hall: 'a,b' } });
    await ask(`mutation { delete_ticket_item(id: ${id}) { id } }`);
    expect(await rows('select from ticket where batch = $1', [BATCH])).to.deep.equal([]);
  });

  it('a row is written together with its junction rows', async () => {
    const written =
      await ask(`mutation { create_film_item(data: { title: "By GraphQL", cast: [{ actor_id: { actor_id: 2 }, role: "x" }, { actor_id: { name: "Fresh" } }] }) {
      film_id cast(sort: ["actor_id"]) { role actor_id { name } } } }`);
    expect(written.create_film_item.cast).to.deep.equal([
      { role: 'x', actor_id: { name: 'Actor B' } },
      { role: null, actor_id: { name: 'Fresh' } },
    ]);
    await ask('mutation ($id: ID!) { delete_film_item(id: $id) { id } }', { id: written.create_film_item.film_id });
    await rows(`delete from actor where name = 'Fresh'`);
  });

  it('rows of a table without a key are created', async () => {
    const written = await ask(
      'mutation { create_visit_item(data: { at: "2026-08-01T10:00:00", visitors: 3, remark: "new" }) { visitors remark } }',
    );
    expect(written.create_visit_item).to.deep.equal({ visitors: 3, remark: 'new' });
    await rows(`delete from visit where remark = 'new'`);
  });
});

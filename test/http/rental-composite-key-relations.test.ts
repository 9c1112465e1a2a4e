import { expect } from 'chai';
import {
  itemPath,
  type RentalTestService,
  type AnyRow as Row,
  startRentalTestService,
} from '../support/rental-schema-service.ts';

/** To-many aliases: collection, name of the alias, collection and field of the foreign key, and metadata of the relation. */
const ALIASES = [
  ['film', 'cast', 'film_actor', 'film_id', { junction_field: 'actor_id', one_deselect_action: 'delete' }],
  ['actor', 'films', 'film_actor', 'actor_id', { junction_field: 'film_id', one_deselect_action: 'delete' }],
  ['film', 'categories', 'film_category', 'film_id', { junction_field: 'category_id', one_deselect_action: 'delete' }],
  ['film', 'copies', 'film_copy', 'film_id', { one_deselect_action: 'delete' }],
  ['screening', 'tickets', 'ticket', 'screening', { one_deselect_action: 'delete' }],
  ['screening', 'following', 'screening', 'screening', {}],
  ['payment', 'refunds', 'refund', 'payment', {}],
  ['film_copy', 'rentals', 'rental', 'film_copy', {}],
  ['shift', 'films', 'shift_film', 'shift', { one_deselect_action: 'delete' }],
] as const;
/** The aliases whose foreign key has one column. */
const SINGLE = ALIASES.filter(
  ([, , many, field]) => !['screening', 'payment', 'film_copy', 'shift'].includes(field) && many,
);

describe('relations with composite keys', () => {
  let rental: RentalTestService;
  before(async () => {
    rental = await startRentalTestService('rental_relations');
    for (const [collection, field, many, by, meta] of ALIASES) {
      const special = 'junction_field' in meta ? ['m2m'] : ['o2m'];
      await ok('POST', `/fields/${collection}`, { field, type: 'alias', meta: { special } });
      // The reply is not checked: a missing relation fails the tests of its own alias, not all of them.
      await rental.send('PATCH', `/relations/${many}/${by}`, { meta: { one_field: field, ...meta } });
    }
  });
  after(() => rental?.stop());

  const ok = (...request: Parameters<RentalTestService['ok']>) => rental.ok(...request);
  const rows = <T = Row>(text: string, params?: unknown[]) => rental.database.query<T>(text, params);
  const filtered = (collection: string, filter: object, query = '') =>
    ok('GET', `/items/${collection}?limit=-1&filter=${encodeURIComponent(JSON.stringify(filter))}${query}`);

  describe('a foreign key of several columns', () => {
    for (const [collection, field, related, columns, keyed] of [
      ['rental', 'film_copy', 'film_copy', ['film_id', 'copy_no'], ['film_id', 'copy_no']],
      ['copy_insurance', 'film_copy', 'film_copy', ['film_id', 'copy_no'], ['film_id', 'copy_no']],
      ['screening', 'screening', 'screening', ['previous_hall', 'previous_shown_on'], ['hall', 'shown_on']],
      ['ticket', 'screening', 'screening', ['hall', 'shown_on'], ['hall', 'shown_on']],
      ['refund', 'payment', 'payment', ['paid_on', 'payment_id'], ['paid_on', 'payment_id']],
      ['shift_film', 'shift', 'shift', ['employee', 'day'], ['employee', 'day']],
    ] as const) {
      it(`${collection}.${field} is a relation to ${related} beside its columns`, async () => {
        const relation = await ok('GET', `/relations/${collection}/${field}`);
        expect(relation).to.deep.include({ collection, field, related_collection: related });
        expect(relation.schema).to.deep.include({ columns, foreign_key_columns: keyed });
      });
    }

    it('each of two composite foreign keys to the same collection has its own field', async () => {
      const relations: Row[] = await ok('GET', '/relations/shelf_move');
      const toShelf = relations.filter((one) => one.related_collection === 'shelf');
      expect(toShelf.map((one) => one.schema.columns)).to.have.deep.members([
        ['from_store', 'from_aisle', 'from_level'],
        ['to_store', 'to_aisle', 'to_level'],
      ]);
      expect(new Set(toShelf.map((one) => one.field)).size).to.equal(2);
      const fields = toShelf.map((one) => one.field);
      const nested = fields.map((field) => `${field}.capacity`);
      const row = await ok('GET', `/items/shelf_move/16?fields=${[...nested, 'from_aisle', 'from_level']}`);
      expect(fields.map((field) => typeof row[field]?.capacity)).to.deep.equal(['number', 'number']);
    });

    it('a composite foreign key without nested fields is the text of the key, or null where a column is null', async () => {
      const found = await ok('GET', '/items/rental?fields=film_copy,film_id,copy_no&limit=-1');
      for (const row of found)
        expect(row.film_copy).to.equal(row.copy_no === null ? null : `${row.film_id},${row.copy_no}`);
      const tickets = await ok('GET', '/items/ticket?fields=screening,hall,shown_on&limit=-1');
      for (const { hall, shown_on, screening } of tickets)
        expect(screening).to.equal(`${hall.replaceAll('~', '~0').replaceAll(',', '~1')},${shown_on}`);
    });

    it('a composite foreign key with nested fields is the row, also over several relations', async () => {
      const found = await ok(
        'GET',
        '/items/ticket?limit=-1&sort=batch,seat&fields=seat,screening.hall,screening.film_id.title,screening.screening.shown_on,screening.screening.screening.shown_on',
      );
      const expected = await rows(
        `select t.seat, json_build_object('hall', s.hall,
            'film_id', case when f.film_id is not null then json_build_object('title', f.title) end,
            'screening', case when p.hall is not null then json_build_object('shown_on', p.shown_on,
              'screening', case when q.hall is not null then json_build_object('shown_on', q.shown_on) end) end) as screening
         from ticket t join screening s using (hall, shown_on) left join film f using (film_id)
         left join screening p on (p.hall, p.shown_on) = (s.previous_hall, s.previous_shown_on)
         left join screening q on (q.hall, q.shown_on) = (p.previous_hall, p.previous_shown_on) order by t.batch, t.seat`,
      );
      expect(found).to.deep.equal(expected);
    });

    it('a column can be a foreign key by itself and part of a composite one', async () => {
      const [row] = await ok(
        'GET',
        '/items/rental?fields=film_id.title,film_copy.condition,film_copy.film_id.title&filter[rental_id]=7',
      );
      const [expected] = await rows(
        `select f.title, c.condition from rental r join film f using (film_id) join film_copy c using (film_id, copy_no) where rental_id = 7`,
      );
      expect(row).to.deep.equal({
        film_id: { title: expected?.title },
        film_copy: { condition: expected?.condition, film_id: { title: expected?.title } },
      });
    });

    it('a composite foreign key is filtered by the related row, by key texts and by null', async () => {
      const ids = async (filter: object) =>
        (await filtered('rental', filter, '&fields=rental_id')).map((row: Row) => Number(row.rental_id)).sort();
      const expected = async (where: string) =>
        (await rows(`select rental_id from rental r left join film_copy c using (film_id, copy_no) where ${where}`))
          .map((row) => Number(row.rental_id))
          .sort();
      expect(await ids({ film_copy: { condition: { _eq: 'good' } } })).to.deep.equal(
        await expected(`c.condition = 'good'`),
      );
      expect(await ids({ film_copy: { film_id: { title: { _contains: '2' } } } })).to.deep.equal(
        await expected(`c.film_id in (select film_id from film where title like '%2%')`),
      );
      expect(await ids({ film_copy: { _eq: '3,1' } })).to.deep.equal(await expected('(film_id, copy_no) = (3, 1)'));
      expect(await ids({ film_copy: { _in: ['3,1', '4,1', '9,9'] } })).to.deep.equal(
        await expected('(film_id, copy_no) in ((3, 1), (4, 1))'),
      );
      expect(await ids({ film_copy: { _null: true } })).to.deep.equal(await expected('copy_no is null'));
      expect(await ids({ film_copy: { _nnull: true } })).to.deep.equal(await expected('copy_no is not null'));
    });

    it('a composite foreign key written as a text, an object or null sets its columns', async () => {
      const stored = async (id: unknown) =>
        (await rows('select film_id, copy_no from rental where rental_id = $1', [id]))[0];
      const created = await ok('POST', '/items/rental', {
        customer_id: 1,
        rented_at: '2026-03-01T10:00:00',
        film_copy: '3,1',
      });
      const path = `/items/rental/${created.rental_id}`;
      expect(await stored(created.rental_id)).to.deep.equal({ film_id: 3, copy_no: 1 });
      await ok('PATCH', path, { film_copy: { film_id: 5, copy_no: 2 } });
      expect(await stored(created.rental_id)).to.deep.equal({ film_id: 5, copy_no: 2 });
      await ok('PATCH', path, { film_copy: { film_id: 5, copy_no: 50, condition: 'brand new' } });
      expect(await stored(created.rental_id)).to.deep.equal({ film_id: 5, copy_no: 50 });
      expect(await ok('GET', `${path}?fields=film_copy.condition`)).to.deep.equal({
        film_copy: { condition: 'brand new' },
      });
      await ok('PATCH', path, { film_copy: { film_id: 5, copy_no: 50, condition: 'torn' } });
      expect(await ok('GET', `${path}?fields=film_copy.condition`)).to.deep.equal({ film_copy: { condition: 'torn' } });
      expect((await rental.send('PATCH', path, { film_copy: '5,60' })).body.errors?.[0].extensions.code).to.equal(
        'INVALID_FOREIGN_KEY',
      );
      const refund = await ok('POST', '/items/refund', { reason: 'x', payment: '2026-01-06,1' });
      expect(refund).to.include({ paid_on: '2026-01-06', payment_id: '1' });
      expect(await ok('PATCH', `/items/refund/${refund.refund_id}`, { payment: null })).to.include({
        paid_on: null,
        payment_id: null,
      });
      await ok('DELETE', `/items/refund/${refund.refund_id}`);
      await ok('DELETE', path);
    });

    it('a payload creates a row and the row of its composite foreign key', async () => {
      const path = `/items/ticket?fields=batch,seat,screening.seats`;
      const batch = '00000000-0000-4000-8000-00000000aaaa';
      const created = await ok('POST', path, {
        batch,
        seat: 1,
        screening: { hall: 'new, hall', shown_on: '2027-03-01', seats: 12 },
      });
      expect(created).to.deep.equal({ batch, seat: 1, screening: { seats: 12 } });
      await ok('DELETE', itemPath('screening', 'new~1 hall,2027-03-01'));
      expect(await rows('select from ticket where batch = $1', [batch])).to.deep.equal([]);
    });
  });

  describe('to-many aliases', () => {
    it('an alias without nested fields is the list of key texts', async () => {
      for (const [collection, field, many, by] of SINGLE) {
        const key =
          many === 'film_actor'
            ? `actor_id || ',' || film_id`
            : many === 'film_category'
              ? `category_id || ',' || film_id`
              : `film_id || ',' || copy_no`;
        const found = await ok(
          'GET',
          `/items/${collection}?limit=-1&fields=${collection}_id,${field}&sort=${collection}_id`,
        );
        const expected = await rows<{ id: number; keys: string[] }>(
          `select o.${collection}_id as id, array(select ${key} from ${many} m where m.${by} = o.${collection}_id) as keys from ${collection} o order by 1`,
        );
        expect(
          found.map((row: Row) => [row[`${collection}_id`], [...row[field]].sort()]),
          field,
        ).to.deep.equal(expected.map(({ id, keys }) => [id, keys.sort()]));
      }
    });

    it('a junction with a composite key is read in both directions', async () => {
      const films = await ok(
        'GET',
        '/items/film?limit=-1&sort=film_id&fields=film_id,cast.role,cast.actor_id.name&deep[cast][_sort]=actor_id',
      );
      expect(films).to.deep.equal(
        await rows(`select f.film_id, (select coalesce(json_agg(json_build_object('role', role, 'actor_id', json_build_object('name', a.name)) order by a.actor_id), '[]')
          from film_actor fa join actor a using (actor_id) where fa.film_id = f.film_id) as cast from film f order by 1`),
      );
      const actors = await ok(
        'GET',
        '/items/actor?limit=-1&sort=actor_id&fields=actor_id,films.film_id.title&deep[films][_sort]=film_id&deep[films][_limit]=2',
      );
      expect(actors).to.deep.equal(
        await rows(`select a.actor_id, (select coalesce(json_agg(json_build_object('film_id', json_build_object('title', title)) order by film_id), '[]')
          from (select f.film_id, f.title from film_actor fa join film f using (film_id) where fa.actor_id = a.actor_id order by film_id limit 2) x) as films
          from actor a order by 1`),
      );
    });

    it('rows are filtered and counted by the rows of an alias', async () => {
      const titles = async (filter: object) =>
        (await filtered('film', filter, '&fields=film_id')).map((row: Row) => row.film_id).sort();
      const expected = async (where: string) =>
        (await rows(`select film_id from film f where ${where}`)).map((row) => row.film_id).sort();
      expect(await titles({ cast: { actor_id: { name: { _eq: 'Actor A' } } } })).to.deep.equal(
        await expected(`exists (select from film_actor where film_id = f.film_id and actor_id = 1)`),
      );
      expect(await titles({ cast: { _none: { billing: { _gt: 3 } } } })).to.deep.equal(
        await expected(`not exists (select from film_actor where film_id = f.film_id and billing > 3)`),
      );
      expect(
        await titles({
          _and: [{ categories: { category_id: { _eq: 1 } } }, { cast: { _some: { role: { _null: true } } } }],
        }),
      ).to.deep.equal(
        await expected(`exists (select from film_category where film_id = f.film_id and category_id = 1)
          and exists (select from film_actor where film_id = f.film_id and role is null)`),
      );
      const counted = await ok('GET', '/items/film?limit=-1&sort=film_id&fields=film_id,count(cast)');
      expect(counted.map((row: Row) => row.cast_count)).to.deep.equal(
        (
          await rows(
            'select (select count(*)::integer from film_actor fa where fa.film_id = f.film_id) as n from film f order by film_id',
          )
        ).map((row) => row.n),
      );
    });

    it('$FOLLOW filters by rows that refer to a row without an alias', async () => {
      const found = await filtered(
        'customer',
        { '$FOLLOW(payment,customer_id)': { amount: { _gt: 70 } } },
        '&fields=customer_id&sort=customer_id',
      );
      expect(found).to.deep.equal(await rows('select distinct customer_id from payment where amount > 70 order by 1'));
      const copies = await filtered(
        'film_copy',
        { '$FOLLOW(rental,film_copy)': { customer_id: { _eq: 4 } } },
        '&fields=film_id,copy_no&sort=film_id',
      );
      expect(copies).to.deep.equal(
        await rows(
          'select distinct film_id, copy_no from rental where customer_id = 4 and copy_no is not null order by 1',
        ),
      );
    });

    it('an alias over a composite foreign key is read and filtered by', async () => {
      const screenings = await ok(
        'GET',
        '/items/screening?limit=-1&sort=hall,shown_on&fields=tickets.price,following.shown_on&deep[tickets][_sort]=seat',
      );
      expect(screenings).to.deep.equal(
        await rows(`select (select json_agg(json_build_object('price', price::text) order by seat) from ticket t where (t.hall, t.shown_on) = (s.hall, s.shown_on)) as tickets,
          (select coalesce(json_agg(json_build_object('shown_on', n.shown_on)), '[]') from screening n
            where (n.previous_hall, n.previous_shown_on) = (s.hall, s.shown_on)) as following
          from screening s order by s.hall, s.shown_on`),
      );
      const one = await ok('GET', `${itemPath('screening', 'a~1b,2026-01-08')}?fields=tickets,following`);
      expect(one.following).to.deep.equal(['a~1b,2026-01-15']);
      expect(one.tickets).to.have.length(2);
      const paid = await filtered('payment', { refunds: { reason: { _nnull: true } } }, '&fields=payment_id');
      const [{ n } = { n: 0 }] = await rows(
        'select count(distinct payment_id)::integer as n from refund where paid_on is not null',
      );
      expect(paid).to.have.length(n);
    });

    it('a list written to an alias replaces the rows of the junction', async () => {
      const cast = () => rows('select actor_id, role from film_actor where film_id = 40 order by actor_id');
      await ok('PATCH', '/items/film/40', { cast: [{ actor_id: 1, role: 'lead' }, { actor_id: 2 }] });
      expect(await cast()).to.deep.equal([
        { actor_id: 1, role: 'lead' },
        { actor_id: 2, role: null },
      ]);
      await ok('PATCH', '/items/film/40', { cast: ['1,40', { actor_id: 3, role: 'new' }] });
      expect(await cast()).to.deep.equal([
        { actor_id: 1, role: 'lead' },
        { actor_id: 3, role: 'new' },
      ]);
      await ok('PATCH', '/items/film/40', {
        cast: [
          { actor_id: 1, role: 'changed' },
          { actor_id: { name: 'Debut' }, role: 'first' },
        ],
      });
      const [debut] = await rows(`select actor_id from actor where name = 'Debut'`);
      expect(await cast()).to.deep.equal([
        { actor_id: 1, role: 'changed' },
        { actor_id: debut?.actor_id, role: 'first' },
      ]);
      await ok('PATCH', '/items/film/40', { cast: [] });
      expect(await cast()).to.deep.equal([]);
      await ok('DELETE', `/items/actor/${debut?.actor_id}`);
    });

    it('create, update and delete written to an alias leave the other rows of the junction', async () => {
      const cast = () => rows('select actor_id, role from film_actor where film_id = 40 order by actor_id');
      await ok('PATCH', '/items/film/40', {
        cast: {
          create: [
            { actor_id: 1, role: 'a' },
            { actor_id: 2, role: 'b' },
            { actor_id: 3, role: 'c' },
          ],
        },
      });
      await ok('PATCH', '/items/film/40', {
        cast: {
          create: [{ actor_id: 4, role: 'd' }],
          update: [{ actor_id: 1, film_id: 40, role: 'A' }],
          delete: ['2,40', { actor_id: 3, film_id: 40 }],
        },
      });
      expect(await cast()).to.deep.equal([
        { actor_id: 1, role: 'A' },
        { actor_id: 4, role: 'd' },
      ]);
      await ok('PATCH', '/items/film/40', { cast: { delete: ['1,40', '4,40'] } });
      expect(await cast()).to.deep.equal([]);
    });

    it('one payload creates a film with its copies, cast and categories', async () => {
      const created = await ok(
        'POST',
        '/items/film?fields=film_id,copies.copy_no,copies.format,cast.actor_id.name,categories.category_id.name',
        {
          title: 'All at once',
          copies: [{ copy_no: 1, format: 'Blu-ray' }, { copy_no: 2 }],
          cast: [{ actor_id: { actor_id: 1 }, role: 'x' }],
          categories: [{ category_id: 2 }],
        },
      );
      expect(created).to.deep.include({
        copies: [
          { copy_no: 1, format: 'Blu-ray' },
          { copy_no: 2, format: 'DVD' },
        ],
        cast: [{ actor_id: { name: 'Actor A' } }],
        categories: [{ category_id: { name: 'Documentary' } }],
      });
      await ok('PATCH', `/items/film/${created.film_id}`, { copies: [{ copy_no: 2, condition: 'worn' }] });
      expect(
        await rows('select copy_no, condition from film_copy where film_id = $1', [created.film_id]),
      ).to.deep.equal([{ copy_no: 2, condition: 'worn' }]);
      await ok('DELETE', `/items/film/${created.film_id}`);
    });

    it('rows behind an alias are written with the composite key of their parent', async () => {
      const path = itemPath('screening', 'g h,2026-01-01');
      const batch = '00000000-0000-4000-8000-00000000bbbb';
      await ok('PATCH', path, {
        tickets: {
          create: [
            { batch, seat: 1 },
            { batch, seat: 2, price: 3 },
          ],
        },
      });
      const stored = () =>
        rows('select seat, hall, shown_on::text from ticket where batch = $1 order by seat', [batch]);
      expect(await stored()).to.deep.equal([
        { seat: 1, hall: 'g h', shown_on: '2026-01-01' },
        { seat: 2, hall: 'g h', shown_on: '2026-01-01' },
      ]);
      await ok('PATCH', path, { tickets: { update: [{ batch, seat: 1, price: 4 }], delete: [`${batch},2`] } });
      expect(await stored()).to.have.length(1);
      await ok('PATCH', path, { tickets: { delete: [{ batch, seat: 1 }] } });
      const created = await ok('POST', '/items/shift?fields=employee,films.film_id', {
        employee: 'New, one',
        day: '2026-09-01',
        films: [{ film_id: 1 }, { film_id: 2 }],
      });
      expect(created.films).to.have.deep.members([{ film_id: 1 }, { film_id: 2 }]);
      await ok('DELETE', itemPath('shift', 'New~1 one,2026-09-01'));
    });

    it('an alias of a collection with a composite key lists the rows that refer to it', async () => {
      const rentals = await ok(
        'GET',
        '/items/film_copy?limit=-1&sort=film_id,copy_no&fields=rentals.customer_id&deep[rentals][_sort]=rental_id',
      );
      expect(rentals).to.deep.equal(
        await rows(`select (select coalesce(json_agg(json_build_object('customer_id', customer_id) order by rental_id), '[]') from rental r
          where (r.film_id, r.copy_no) = (c.film_id, c.copy_no)) as rentals from film_copy c order by film_id, copy_no`),
      );
    });
  });

  it('a relation into another database schema is read', async () => {
    const found = await ok(
      'GET',
      '/items/shift_film?limit=-1&sort=employee,day,film_id&fields=film_id.title,shift.hours',
    );
    expect(found).to.deep.equal(
      await rows(`select json_build_object('title', title) as film_id, json_build_object('hours', hours::text) as shift
        from office.shift_film sf join film using (film_id) join office.shift using (employee, day) order by sf.employee, sf.day, sf.film_id`),
    );
  });
});

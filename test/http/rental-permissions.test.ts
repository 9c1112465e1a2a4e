import { expect } from 'chai';
import {
  itemPath,
  type RentalTestService,
  type AnyRow as Row,
  startRentalTestService,
} from '../support/rental-schema-service.ts';
import { createUserWithPermissions } from './test-users.ts';

const FORBIDDEN = [403, 'FORBIDDEN'];

describe('permissions on collections with composite keys', () => {
  let rental: RentalTestService;
  let critic: string;
  let clerk: string;
  before(async () => {
    rental = await startRentalTestService('rental_permissions');
    await rental.ok('POST', '/fields/film', { field: 'cast', type: 'alias', meta: { special: ['m2m'] } });
    const meta = { one_field: 'cast', junction_field: 'actor_id', one_deselect_action: 'delete' };
    await rental.ok('PATCH', '/relations/film_actor/film_id', { meta });
    const tickets = { field: 'tickets', type: 'alias', meta: { special: ['o2m'] } };
    await rental.ok('POST', '/fields/screening', tickets);
    await rental.send('PATCH', '/relations/ticket/screening', { meta: { one_field: 'tickets' } });
    // The critic reads the cast of films made before 1970 without the field `billing`, and screenings with 22 seats or more.
    ({ token: critic } = await createUserWithPermissions(rental.service, [
      { collection: 'film', action: 'read', fields: ['film_id', 'title', 'cast'] },
      { collection: 'actor', action: 'read', permissions: { actor_id: { _lte: 10 } } },
      {
        collection: 'film_actor',
        action: 'read',
        fields: ['actor_id', 'film_id', 'role'],
        permissions: { film_id: { release_year: { _lt: 1970 } } },
      },
      { collection: 'screening', action: 'read', permissions: { seats: { _gte: 22 } } },
      { collection: 'ticket', action: 'read' },
      { collection: 'film_category', action: 'read', fields: ['film_id'] },
    ]));
    // The clerk writes copies of films 1 to 10 that are not worn, and payments of one customer.
    const copies = { film_id: { _lte: 10 }, _or: [{ condition: { _neq: 'worn' } }, { condition: { _null: true } }] };
    ({ token: clerk } = await createUserWithPermissions(rental.service, [
      { collection: 'film_copy', action: 'read', permissions: { film_id: { _lte: 12 } } },
      {
        collection: 'film_copy',
        action: 'create',
        fields: ['film_id', 'copy_no', 'condition'],
        validation: { copy_no: { _gte: 10 } },
        presets: { condition: 'fresh' },
      },
      { collection: 'film_copy', action: 'update', fields: ['condition', 'copy_no'], permissions: copies },
      { collection: 'film_copy', action: 'delete', permissions: copies },
      { collection: 'payment', action: 'read', permissions: { customer_id: { _eq: 2 } } },
      {
        collection: 'payment',
        action: 'update',
        fields: ['note'],
        permissions: { customer_id: { _eq: 2 }, paid_on: { _lt: '2026-02-15' } },
      },
      { collection: 'visit', action: 'read', permissions: { visitors: { _gt: 4 } } },
      { collection: 'visit', action: 'update', permissions: { visitors: { _gt: 6 } } },
      { collection: 'visit', action: 'delete', permissions: { visitors: { _gt: 8 } } },
    ]));
  });
  after(() => rental?.stop());

  const ok = (...request: Parameters<RentalTestService['ok']>) => rental.ok(...request);
  const code = (...request: Parameters<RentalTestService['code']>) => rental.code(...request);
  const rows = <T = Row>(text: string, params?: unknown[]) => rental.database.query<T>(text, params);
  const EARLY = 'join film f using (film_id) where f.release_year < 1970';

  it('a list has and counts the rows of the row rule without the unreadable fields', async () => {
    const expected = await rows(`select fa.actor_id, fa.film_id, fa.role from film_actor fa ${EARLY} order by 1, 2`);
    expect(expected.length).to.be.within(10, 100);
    const path = '/items/film_actor?limit=-1&sort=actor_id,film_id&meta=*&fields=actor_id,film_id,role,billing';
    const { body } = await rental.send('GET', path, undefined, critic);
    expect(body.data).to.deep.equal(expected);
    expect(body.meta).to.deep.equal({ total_count: expected.length, filter_count: expected.length });
    expect(await ok('GET', '/items/film_actor?aggregate[count]=*', undefined, critic)).to.deep.equal([
      { count: expected.length },
    ]);
    expect(await code('GET', '/items/film_actor?sort=billing', undefined, critic)).to.deep.equal(FORBIDDEN);
    expect(await code('GET', '/items/film_actor?filter[billing][_gt]=1', undefined, critic)).to.deep.equal(FORBIDDEN);
  });

  it('a single row outside the row rule is FORBIDDEN like a missing row', async () => {
    const pairs = await rows<{ actor_id: number; film_id: number; early: boolean }>(
      'select actor_id, film_id, coalesce(release_year < 1970, false) as early from film_actor join film using (film_id) where actor_id < 4',
    );
    for (const { actor_id, film_id, early } of pairs) {
      const path = itemPath('film_actor', `${actor_id},${film_id}`);
      if (early)
        expect(await ok('GET', path, undefined, critic))
          .to.include({ actor_id, film_id })
          .and.not.have.property('billing');
      else expect(await code('GET', path, undefined, critic)).to.deep.equal(FORBIDDEN);
    }
    expect(await code('GET', itemPath('film_actor', '1,9999'), undefined, critic)).to.deep.equal(FORBIDDEN);
    const keys = pairs.map(({ actor_id, film_id }) => `${actor_id},${film_id}`);
    const { body } = await rental.send('SEARCH', '/items/film_actor', { keys, query: { limit: -1 } }, critic);
    expect(body.data.map((row: Row) => `${row.actor_id},${row.film_id}`)).to.have.members(
      pairs.filter(({ early }) => early).map(({ actor_id, film_id }) => `${actor_id},${film_id}`),
    );
  });

  it('row rules of both collections apply through a junction', async () => {
    const found = await ok(
      'GET',
      '/items/film?limit=-1&sort=film_id&fields=film_id,cast.role,cast.billing,cast.actor_id.name&deep[cast][_sort]=actor_id',
      undefined,
      critic,
    );
    expect(found).to.deep.equal(
      await rows(`select f.film_id, (select coalesce(json_agg(json_build_object('role', fa.role,
          'actor_id', case when a.actor_id <= 10 then json_build_object('name', a.name) end) order by fa.actor_id), '[]')
        from film_actor fa join actor a using (actor_id) where fa.film_id = f.film_id and f.release_year < 1970) as cast from film f order by 1`),
    );
  });

  it('row rules of both collections apply through a composite foreign key', async () => {
    const found = await ok(
      'GET',
      '/items/ticket?limit=-1&sort=batch,seat&fields=seat,screening.seats',
      undefined,
      critic,
    );
    expect(found).to.deep.equal(
      await rows(`select seat, case when s.seats >= 22 then json_build_object('seats', s.seats) end as screening
        from ticket t join screening s using (hall, shown_on) order by batch, seat`),
    );
    const screenings = await ok(
      'GET',
      '/items/screening?limit=-1&sort=hall,shown_on&fields=hall,count(tickets)',
      undefined,
      critic,
    );
    expect(screenings).to.deep.equal(
      await rows('select hall, 2 as tickets_count from screening where seats >= 22 order by hall, shown_on'),
    );
    expect(
      await ok('GET', '/items/ticket?aggregate[count]=*&filter[screening][seats][_lt]=23', undefined, critic),
    ).to.deep.equal(
      await rows('select count(*)::integer from ticket join screening using (hall, shown_on) where seats = 22'),
    );
  });

  it('an unreadable key column is left out of rows and FORBIDDEN in filters', async () => {
    const found = await ok('GET', '/items/film_category?limit=-1', undefined, critic);
    expect(found).to.have.deep.members(await rows('select film_id from film_category'));
    expect(await code('GET', itemPath('film_category', '1,4'), undefined, critic)).to.deep.equal([200, undefined]);
    expect(await ok('GET', itemPath('film_category', '1,4'), undefined, critic)).to.deep.equal({ film_id: 4 });
    expect(await code('GET', '/items/film_category?filter[category_id]=1', undefined, critic)).to.deep.equal(FORBIDDEN);
  });

  it('a create applies the validation, the field list and the presets', async () => {
    const created = await ok('POST', '/items/film_copy', { film_id: 5, copy_no: 10 }, clerk);
    expect(created).to.include({ film_id: 5, copy_no: 10, condition: 'fresh' });
    expect(await code('POST', '/items/film_copy', { film_id: 5, copy_no: 9 }, clerk)).to.deep.equal([
      400,
      'FAILED_VALIDATION',
    ]);
    expect(await code('POST', '/items/film_copy', { film_id: 5, copy_no: 11, format: 'DVD' }, clerk)).to.deep.equal(
      FORBIDDEN,
    );
    await ok('DELETE', itemPath('film_copy', '5,10'), undefined, clerk);
  });

  it('an update by key changes only rows of the row rule', async () => {
    const copies = await rows<{ film_id: number; copy_no: number; allowed: boolean }>(
      `select film_id, copy_no, film_id <= 10 and condition is distinct from 'worn' as allowed from film_copy where film_id < 14 order by 1, 2`,
    );
    expect(new Set(copies.map(({ allowed }) => allowed)).size).to.equal(2);
    for (const { film_id, copy_no, allowed } of copies) {
      const path = itemPath('film_copy', `${film_id},${copy_no}`);
      const answer = await code('PATCH', path, { condition: 'checked' }, clerk);
      expect(answer, path).to.deep.equal(allowed ? [200, undefined] : FORBIDDEN);
    }
    expect(
      await rows(`select film_id, copy_no from film_copy where condition = 'checked' order by 1, 2`),
    ).to.deep.equal(copies.filter(({ allowed }) => allowed).map(({ film_id, copy_no }) => ({ film_id, copy_no })));
    expect(await code('PATCH', itemPath('film_copy', '1,1'), { format: 'Blu-ray' }, clerk)).to.deep.equal(FORBIDDEN);
    expect(await code('PATCH', itemPath('film_copy', '1,1'), { film_id: 2 }, clerk), 'a part of the key').to.deep.equal(
      FORBIDDEN,
    );
  });

  it('an update of several keys changes all of the rows or none', async () => {
    const data = { condition: 'both' };
    expect(await code('PATCH', '/items/film_copy', { keys: ['1,1', '20,1'], data }, clerk)).to.deep.equal(FORBIDDEN);
    const list = [
      { film_id: 1, copy_no: 1, ...data },
      { film_id: 20, copy_no: 1, ...data },
    ];
    expect(await code('PATCH', '/items/film_copy', list, clerk)).to.deep.equal(FORBIDDEN);
    expect(await rows(`select from film_copy where condition = 'both'`)).to.deep.equal([]);
    expect(
      await ok('PATCH', '/items/film_copy', { keys: ['1,1', { film_id: 3, copy_no: 1 }], data }, clerk),
    ).to.have.length(2);
  });

  it('an update by query changes only rows that the caller may read and change', async () => {
    const changed = await ok(
      'PATCH',
      '/items/payment',
      { query: { filter: { amount: { _gt: 1 } }, limit: -1 }, data: { note: 'mine' } },
      clerk,
    ).catch((error) => error);
    const stored = await rows(`select customer_id, paid_on < '2026-02-15' as early from payment where note = 'mine'`);
    // If the query finds a row that the clerk may read but not change, the whole PATCH fails and changes nothing.
    if (changed instanceof Error) expect(stored).to.deep.equal([]);
    for (const row of stored) expect(row).to.deep.equal({ customer_id: 2, early: true });
    const early = { filter: { paid_on: { _lt: '2026-02-01' } }, limit: -1 };
    await ok('PATCH', '/items/payment', { query: early, data: { note: 'early' } }, clerk);
    expect(await rows(`select paid_on::text, payment_id from payment where note = 'early' order by 1`)).to.deep.equal(
      await rows(
        `select paid_on::text, payment_id from payment where customer_id = 2 and paid_on < '2026-02-01' order by 1`,
      ),
    );
  });

  it('a delete of several keys deletes no row when one is outside the row rule', async () => {
    const before = (await rows('select from film_copy')).length;
    expect(await code('DELETE', '/items/film_copy', ['2,1', '20,1'], clerk)).to.deep.equal(FORBIDDEN);
    expect(await code('DELETE', '/items/film_copy', ['2,1', '2,77'], clerk)).to.deep.equal(FORBIDDEN);
    expect(await code('DELETE', itemPath('film_copy', '20,1'), undefined, clerk)).to.deep.equal(FORBIDDEN);
    expect((await rows('select from film_copy')).length).to.equal(before);
    await rows(`insert into film_copy (film_id, copy_no) values (2, 50), (2, 51)`);
    await ok('DELETE', '/items/film_copy', { keys: ['2,50', { film_id: 2, copy_no: 51 }] }, clerk);
    expect((await rows('select from film_copy')).length).to.equal(before);
  });

  it('row rules apply to a table without a key', async () => {
    expect(await ok('GET', '/items/visit?aggregate[count]=*', undefined, clerk)).to.deep.equal(
      await rows('select count(*)::integer from visit where visitors > 4'),
    );
    const query = { filter: { visitors: { _gt: 6 } } };
    await ok('PATCH', '/items/visit', { query, data: { remark: 'many' } }, clerk);
    expect(await rows(`select count(*)::integer as n from visit where remark = 'many'`)).to.deep.equal(
      await rows('select count(*)::integer as n from visit where visitors > 6'),
    );
    await ok('DELETE', '/items/visit', { query: { filter: { visitors: { _gt: 8 } } } }, clerk);
    expect(await rows('select from visit where visitors > 8')).to.deep.equal([]);
    expect(await code('POST', '/items/visit', { at: '2026-01-01T10:00:00', visitors: 1 }, clerk)).to.deep.equal(
      FORBIDDEN,
    );
  });
});

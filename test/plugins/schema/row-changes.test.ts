import { expect } from 'chai';
import pg from 'pg';
import { ROW_CHANGES_CHANNEL, type RowChanges } from '../../../plugins/schema/contract.ts';
import { type FreshDatabase, freshDatabase } from '../../support/database.ts';
import { until } from '../../support/until.ts';
import { type SchemaFixture, startSchemaFixture } from './schema-fixture.ts';

const TABLES = `
  create table plain (id int primary key, n int);
  create table child (id int primary key, plain int references plain on delete cascade);
  create table part (id int, kind text, primary key (id, kind)) partition by list (kind);
  create table part_a partition of part for values in ('a');
  create table part_b partition of part for values in ('b');
  create table parent (id int);
  create table heir () inherits (parent);
  create materialized view stored as select id from plain;
  create table secured (id int);
  alter table secured enable row level security, force row level security;
  create function twice(n int) returns int language sql immutable as 'select n * 2';
  create view joined as select p.id, (select count(*) from child c where c.plain = p.id) as children from plain p;
  create view nested as select * from joined;
  create view formatted as select to_char(timestamptz '2020-01-01Z', 'YYYY') || n as year, jsonb_build_object('n', n) as json from plain;
  create view timed as select id from plain where now() > '2020-01-01Z';
  create view current as select id, current_user as who from plain;
  create view sampled as select id from plain tablesample system (50);
  create view calling as select twice(n) from plain;
  create view catalogued as select relname from pg_class;
  create view over_stored as select * from stored;
  create view over_secured as select * from secured;`;

describe('RowChanges', function () {
  this.timeout(60_000);
  let database: FreshDatabase;
  let fixture: SchemaFixture;
  let announce: (...names: string[]) => Promise<Record<string, string | undefined>>;
  let rowChanges: RowChanges;
  let listener: pg.Client;
  const announcements: number[] = [];

  before(async () => {
    database = await freshDatabase('rows');
    await database.query(TABLES);
    fixture = await startSchemaFixture(database);
    rowChanges = fixture.rowChanges;
    announce = async (...names) => {
      const tables = await rowChanges.announce(names.map((name) => `"public"."${name}"`));
      return Object.fromEntries(tables.map(({ table, refusal }) => [table.split('"')[3], refusal]));
    };
    listener = new pg.Client({ connectionString: database.url });
    await listener.connect();
    await listener.query('listen platform_bus');
    listener.on('notification', ({ payload = '{}' }) => {
      const { channel, payload: oid } = JSON.parse(payload);
      if (channel === ROW_CHANGES_CHANNEL) announcements.push(oid);
    });
  });
  after(async () => {
    await listener?.end();
    await fixture?.stop();
    await database?.drop();
  });

  /** Whether the statement announces a change of one of the relations of the table. */
  async function announces(table: string, statement: string): Promise<boolean> {
    const [answer] = await rowChanges.announce([`"public"."${table}"`]);
    announcements.length = 0;
    await database.query(statement);
    // Notifications arrive in the order of the commits.
    await database.query(`notify platform_bus, '{"channel":"${ROW_CHANGES_CHANNEL}","payload":0}'`);
    await until(() => announcements.includes(0));
    return announcements.some((oid) => answer?.relations.includes(oid));
  }

  it('tables, partitioned tables, parents and views of them are announced', async () => {
    expect(
      await announce('plain', 'child', 'part', 'part_a', 'parent', 'heir', 'joined', 'nested', 'formatted'),
    ).to.deep.equal({
      plain: undefined,
      child: undefined,
      part: undefined,
      part_a: undefined,
      parent: undefined,
      heir: undefined,
      joined: undefined,
      nested: undefined,
      formatted: undefined,
    });
  });

  it('tables and views whose changes a trigger does not see are refused with the reason', async () => {
    const refusals = await announce(
      'stored',
      'secured',
      'timed',
      'current',
      'sampled',
      'calling',
      'catalogued',
      'over_stored',
      'over_secured',
      'missing',
    );
    expect(refusals.stored).to.contain('materialized view');
    expect(refusals.over_stored).to.contain('materialized view');
    expect(refusals.over_secured).to.contain('row-level security');
    expect(refusals.secured === undefined || refusals.secured.includes('row-level security')).to.equal(true);
    expect(refusals.timed).to.contain('function');
    expect(refusals.current).to.contain('the time or the session');
    expect(refusals.sampled).to.contain('the time or the session');
    expect(refusals.calling).to.contain('function');
    expect(refusals.catalogued).to.contain('catalog');
    expect(refusals.missing).to.contain('does not exist');
  });

  const CHANGES: readonly (readonly [table: string, statement: string])[] = [
    ['plain', 'insert into plain values (1, 1)'],
    ['plain', 'update plain set n = 2'],
    ['plain', 'insert into plain values (1, 1) on conflict (id) do update set n = 3'],
    ['plain', 'merge into plain using (values (1)) v (id) on plain.id = v.id when matched then update set n = 4'],
    ['plain', 'with changed as (update plain set n = 5 returning id) select * from changed'],
    ['child', 'insert into child values (1, 1); delete from plain'],
    ['joined', 'insert into plain values (2, 1); insert into child values (2, 2)'],
    ['nested', 'delete from child'],
    ['plain', 'truncate plain cascade'],
    ['part', `insert into part values (1, 'a')`],
    ['part', `insert into part_b values (1, 'b')`],
    ['part_a', `insert into part values (2, 'a')`],
    ['part_b', `update part set kind = 'b' where id = 2`],
    ['part', 'truncate part_a'],
    ['parent', 'insert into heir values (1)'],
    ['heir', 'update parent set id = 2'],
    ['plain', `begin; set local session_replication_role = replica; insert into plain values (9, 9); commit`],
  ];
  for (const [table, statement] of CHANGES)
    it(`a read of ${table} is affected by: ${statement}`, async () => {
      expect(await announces(table, statement)).to.equal(true);
    });

  it('a change that is rolled back, and one of another table, is not announced', async () => {
    expect(await announces('plain', 'begin; update plain set n = 1; rollback')).to.equal(false);
    expect(await announces('plain', 'insert into parent values (1)')).to.equal(false);
  });

  it('a locked table is refused after a moment, and announced once it is free', async () => {
    await database.query('create table locked (id int)');
    const other = new pg.Client({ connectionString: database.url });
    await other.connect();
    await other.query('begin; insert into locked values (1)');
    expect((await announce('locked')).locked).to.contain('no trigger');
    await other.query('commit');
    await other.end();
    expect((await announce('locked')).locked).to.equal(undefined);
  });

  it('a trigger that was disabled is created again', async () => {
    await database.query('alter table plain disable trigger user');
    expect((await announce('plain')).plain).to.equal(undefined);
    expect(await announces('plain', 'insert into plain values (20, 1)')).to.equal(true);
  });

  it('a table with the trigger has no side effects for the service', async () => {
    expect(await fixture.collection('child')).to.include({ hasSideEffects: false });
  });

  it('remove drops all triggers and their function', async () => {
    expect(await rowChanges.remove()).to.be.greaterThan(5);
    expect(await database.query(`select from pg_trigger where tgname = 'platform_rows_changed'`)).to.have.length(0);
    expect(await rowChanges.remove()).to.equal(0);
  });
});

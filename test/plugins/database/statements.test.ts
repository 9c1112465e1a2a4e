import { expect } from 'chai';
import type { Db } from '../../../plugins/database/contract.ts';
import { createHealthChecks } from '../../../plugins/database/health-checks.ts';
import { captureError } from '../../support/test-plugins.ts';
import { createPluginWithDatabaseGrant, startTestKernel, type TestKernel } from './test-kernel.ts';

describe('db.query', () => {
  let testKernel: TestKernel;
  let db: Db;
  before(async () => {
    testKernel = await startTestKernel([
      createPluginWithDatabaseGrant({ sql: 'tests run any statement', ddl: true }, (host) => void (db = host.db)),
    ]);
    await testKernel.database.query('create table things (id bigint primary key, price numeric, at timestamptz)');
    await testKernel.database.query(`insert into things values (9007199254740993, 1.10, '2026-01-02T03:04:05Z')`);
  });
  after(() => testKernel?.stop());

  it('a result has the rows and their count, with bigint and numeric as text', async () => {
    expect(await db.query('select id, price from things')).to.deep.equal({
      rows: [{ id: '9007199254740993', price: '1.10' }],
      count: 1,
    });
    expect((await db.query('update things set price = price')).count).to.equal(1);
  });

  it('every session has the settings of the service', async () => {
    const { rows } = await db.query(
      `select current_setting('timezone') as zone, current_setting('jit') as jit, current_setting('datestyle') as dates,
        current_setting('search_path') as path, current_setting('application_name') as name`,
    );
    expect(rows[0]).to.include({ zone: 'UTC', jit: 'off', path: 'public', name: 'tenon' });
    expect(rows[0]?.dates).to.match(/^ISO/);
  });

  it('a named statement runs again after its table was altered', async () => {
    const all = async () =>
      Object.keys((await db.query('select * from things', [], { name: 'all_things' })).rows[0] ?? {});
    expect(await all()).to.deep.equal(['id', 'price', 'at']);
    await db.ddl('alter table things add column colour text');
    expect(await all()).to.deep.equal(['id', 'price', 'at', 'colour']);
    await db.ddl('alter table things drop column colour');
    const inUnit = await captureError(db.transaction(() => all()));
    expect(inUnit.message).to.contain('cached plan');
    expect(await db.transaction(() => all())).to.deep.equal(['id', 'price', 'at']);
  });

  it('a connection holds at most 500 prepared names', async () => {
    for (let at = 0; at < 1200; at++) await db.query('select 1', [], { name: `name_${at}` });
    const { rows } = await db.query<{ count: string }>('select count(*) from pg_prepared_statements');
    expect(Number(rows[0]?.count)).to.be.below(502);
  });

  it('the health checks report response time, free, used and awaited connections', async () => {
    let waited = 0;
    const slots = { held: 1, waiting: 0, refusedAt: 0, longestWait: () => waited };
    const connection = { slots, connectOutsidePool: () => Promise.reject(new Error('a place is free')) };
    const [time, free, used, waiting] = createHealthChecks({ statements: db, connection, max: 10, threshold: 150 });
    expect(time).to.include({ name: 'pg:responseTime', componentType: 'datastore', threshold: 150 });
    expect((await time?.check())?.value).to.be.within(0, 1000);
    expect([await free?.check(), await used?.check()]).to.deep.equal([
      { value: 9, unit: 'connections' },
      { value: 1, unit: 'connections' },
    ]);
    expect(await waiting?.check()).to.deep.equal({ value: 0, unit: 'statements', status: 'ok' });
    waited = 1000;
    expect((await waiting?.check())?.status).to.equal('warn');
  });
});

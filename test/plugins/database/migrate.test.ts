import { expect } from 'chai';
import type { Host } from '#kernel';
import { type Migration, migrations } from '../../../plugins/database/contract.ts';
import { type FreshDatabase, freshDatabase } from '../../support/database.ts';
import { captureError } from '../../support/test-plugins.ts';
import { createPluginWithDatabaseGrant, startTestKernel } from './test-kernel.ts';

describe('migrations', () => {
  let database: FreshDatabase;
  beforeEach(async () => {
    database = await freshDatabase('ground');
  });
  afterEach(() => database.drop());

  const plugin = (...steps: Migration[]) => {
    const register = (host: Host) => {
      for (const step of steps) host.contribute(migrations, step);
    };
    const take = (host: Host) => {
      expect(host.db.schemas).to.deep.equal(['public']);
      register(host);
    };
    const grant = { sql: 'tests run any statement', ddl: true };
    return createPluginWithDatabaseGrant(grant, take, { name: 'notes', contributes: { 'database.migrations': {} } });
  };
  const step = (id: string, ...statements: string[]): Migration => ({
    id,
    async up(db) {
      for (const statement of statements) await db.query(statement);
    },
  });
  const recorded = async () =>
    (await database.query<{ id: string }>('select id from platform_migrations order by id')).map(({ id }) => id);

  it('a migration runs once, in order, and is recorded for its plugin', async () => {
    const first = step('1', 'create table notes (id int)');
    await (await startTestKernel([plugin(first)], { database })).stop();
    await (
      await startTestKernel([plugin(first, step('2', 'alter table notes add column text text'))], { database })
    ).stop();
    expect(await recorded()).to.deep.equal(['1', '2']);
    expect(await database.query('select owner from platform_migrations')).to.deep.equal([
      { owner: 'notes' },
      { owner: 'notes' },
    ]);
  });

  it('the start fails where a newer version changed the tables, unless DB_ALLOW_NEWER_SCHEMA is true', async () => {
    const [first, second] = [
      step('1', 'create table notes (id int)'),
      step('2', 'alter table notes add column text text'),
    ];
    await (await startTestKernel([plugin(first, second)], { database })).stop();
    const failed = await captureError(startTestKernel([plugin(first)], { database }));
    expect([failed.plugin, failed.phase, failed.message]).to.deep.equal([
      '@tenon/database',
      'migrate',
      'a newer version of notes changed the tables (2), which this version does not know',
    ]);
    expect(failed.remedy).to.contain('DB_ALLOW_NEWER_SCHEMA=true');
    const environment = { DB_ALLOW_NEWER_SCHEMA: 'true' };
    await (await startTestKernel([plugin(first)], { database, environment })).stop();
    // Migrations of plugins that are not loaded do not stop the start.
    await (await startTestKernel([], { database })).stop();
  });

  it('a migration that fails is rolled back and stops the boot', async () => {
    const broken = plugin(
      step('1', 'create table notes (id int)'),
      step('2', 'create table half (id int)', 'select 1/0'),
    );
    const failed = await captureError(startTestKernel([broken], { database }));
    expect([failed.plugin, failed.phase, failed.message]).to.deep.equal([
      '@tenon/database',
      'migrate',
      'division by zero',
    ]);
    expect(await recorded()).to.deep.equal(['1']);
    expect(await database.query(`select to_regclass('half') as half`)).to.deep.equal([{ half: null }]);
  });

  it('a migration runs once where several processes start at the same time', async () => {
    const slow = plugin(
      step('1', 'create table notes (id int)', 'select pg_sleep(0.3)', 'insert into notes values (1)'),
    );
    const all = await Promise.all([1, 2, 3].map(() => startTestKernel([slow], { database })));
    for (const one of all) await one.stop();
    expect(await database.query('select id from notes')).to.deep.equal([{ id: 1 }]);
  });

  it('a migration has the database grant of its plugin and no more', async () => {
    const ways: readonly [up: Migration['up'], refusal: string][] = [
      [(db) => db.ddl(db.sql`create table ${db.own('others')} (id int)`), 'change the table others'],
      [(db) => db.ddl('create table others (id int)'), 'run any statement'],
    ];
    for (const [up, refusal] of ways) {
      const register = ({ db, contribute }: Host) => void (db.schemas && contribute(migrations, { id: '1', up }));
      const contributes = { 'database.migrations': {} };
      const failed = await captureError(
        startTestKernel([createPluginWithDatabaseGrant({ own: ['notes'] }, register, { name: 'notes', contributes })], {
          database,
        }),
      );
      expect(failed.message).to.contain(`notes may not ${refusal}`);
    }
  });

  it('a migration of a plugin without host.db is denied', async () => {
    const register = (host: Host) => host.contribute(migrations, step('1', 'create table others (id int)'));
    const failed = await captureError(
      startTestKernel(
        [createPluginWithDatabaseGrant({}, register, { name: 'notes', contributes: { 'database.migrations': {} } })],
        {
          database,
        },
      ),
    );
    expect(failed.message).to.contain('notes may not prepare tables');
  });

  it('two migrations with the same id stop the boot', async () => {
    const failed = await captureError(startTestKernel([plugin(step('1'), step('1'))], { database }));
    expect(failed.message).to.contain('two migrations called 1');
  });

  it('migrations run with DB_POOL_MAX=1', async () => {
    const one = await startTestKernel([plugin(step('1', 'create table notes (id int)'))], {
      database,
      environment: { DB_POOL_MAX: '1' },
    });
    await one.stop();
    expect(await recorded()).to.deep.equal(['1']);
  });
});

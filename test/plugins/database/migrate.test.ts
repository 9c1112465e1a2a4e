import { expect } from 'chai';
import pg from 'pg';
import { type Host, VERSION } from '#kernel';
import { type Migration, migrations } from '../../../plugins/database/contract.ts';
import { renderVersionLockSql } from '../../../plugins/database/library.ts';
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
      `a newer version (${VERSION}) of notes changed the tables (2), which this version (${VERSION}) does not know`,
    ]);
    expect(failed.remedy).to.contain('DB_ALLOW_NEWER_SCHEMA=true');
    const environment = { DB_ALLOW_NEWER_SCHEMA: 'true' };
    await (await startTestKernel([plugin(first)], { database, environment })).stop();
    // Migrations of plugins that are not loaded do not stop the start.
    await (await startTestKernel([], { database })).stop();
  });

  it('a migration that fails is rolled back with all others of the start, so that the version before starts again', async () => {
    const first = step('1', 'create table notes (id int)');
    await (await startTestKernel([plugin(first)], { database })).stop();
    const broken = plugin(
      first,
      step('2', 'alter table notes add column text text'),
      step('3', 'create table half (id int)', 'select 1/0'),
    );
    const failed = await captureError(startTestKernel([broken], { database }));
    expect([failed.plugin, failed.phase, failed.message]).to.deep.equal([
      '@tenon/database',
      'migrate',
      'the migration 3 of notes failed: division by zero',
    ]);
    expect(failed.remedy).to.equal('Nothing of this upgrade was kept, so the version before can be started');
    expect(await recorded()).to.deep.equal(['1']);
    expect(await database.query(`select to_regclass('half') as half`)).to.deep.equal([{ half: null }]);
    await (await startTestKernel([plugin(first)], { database })).stop();
  });

  describe('of versions that run at the same time', () => {
    const create = step('1', 'create table notes (id int)');
    const sinceVersion = (worksSince: string): Migration => ({
      ...step('2', 'alter table notes add column text text'),
      worksSince,
    });
    /** Shows a version of the service to other processes, as a process of that version does, while `work` runs. */
    async function whileVersionRuns(version: string, work: () => Promise<void>): Promise<void> {
      const client = new pg.Client({ connectionString: database.url });
      await client.connect();
      try {
        await client.query(renderVersionLockSql(version));
        await work();
      } finally {
        await client.end();
      }
    }

    it('the start goes on where a newer version changed the tables in a way that this version works with', async () => {
      await (await startTestKernel([plugin(create, sinceVersion(VERSION))], { database })).stop();
      const older = await startTestKernel([plugin(create)], { database });
      await older.stop();
      const line = older.log.find(({ msg }) => String(msg).startsWith('a newer version extended the tables'));
      expect(line?.changes).to.deep.equal([`notes 2 (${VERSION})`]);
    });

    it('the start fails where a newer version names a later version as the oldest that works with its change', async () => {
      await (await startTestKernel([plugin(create, sinceVersion('9.0.0'))], { database })).stop();
      const failed = await captureError(startTestKernel([plugin(create)], { database }));
      expect(failed.message).to.equal(
        `a newer version (${VERSION}) of notes changed the tables (2), which this version (${VERSION}) does not know, and versions before 9.0.0 do not work with that`,
      );
    });

    it('a migration waits for no older process that works with it, and is refused while one runs that does not', async () => {
      await (await startTestKernel([plugin(create)], { database })).stop();
      const start = (worksSince: string) => startTestKernel([plugin(create, sinceVersion(worksSince))], { database });
      await whileVersionRuns('0.0.9', async () => {
        const failed = await captureError(start(VERSION));
        expect(failed.message).to.equal(
          `a process of version 0.0.9 still runs on this database, and versions before ${VERSION} do not work with the change 2 of notes`,
        );
        expect(failed.remedy).to.contain('stop all processes of older versions');
        expect(await recorded()).to.deep.equal(['1']);
        await (await start('0.0.9')).stop();
      });
      expect(await recorded()).to.deep.equal(['1', '2']);
    });

    it('a migration without worksSince is refused while an older process runs, and runs once it has ended', async () => {
      await (await startTestKernel([plugin(create)], { database })).stop();
      const start = () => startTestKernel([plugin(create, step('2', 'drop table notes'))], { database });
      await whileVersionRuns('0.0.1', async () => {
        const failed = await captureError(start());
        expect(failed.message).to.contain('a process of version 0.0.1 still runs on this database');
      });
      await (await start()).stop();
      expect(await recorded()).to.deep.equal(['1', '2']);
    });

    it('a running process shows its version to others until it has ended', async () => {
      const live = () =>
        database.query(`select objid::int as number from pg_locks where locktype = 'advisory' and classid = 1952804467
          and database = (select oid from pg_database where datname = current_database())`);
      const running = await startTestKernel([], { database });
      const [major, minor, patch] = VERSION.split('.').map(Number) as [number, number, number];
      expect(await live()).to.deep.equal([{ number: (major * 1000 + minor) * 1000 + patch }]);
      await running.stop();
      expect(await live()).to.deep.equal([]);
    });
  });

  it('the table of migrations of an earlier version gets its new columns, and its rows stay', async () => {
    await database.query(
      `create table platform_migrations (owner text not null, id text not null, at timestamptz not null default now(), primary key (owner, id))`,
    );
    await database.query(`insert into platform_migrations (owner, id) values ('notes', '1')`);
    await database.query('create table notes (id int)');
    const second = step('2', 'alter table notes add column text text');
    await (await startTestKernel([plugin(step('1', 'create table notes (id int)'), second)], { database })).stop();
    expect(await database.query('select id, version, works_since from platform_migrations order by id')).to.deep.equal([
      { id: '1', version: null, works_since: null },
      { id: '2', version: VERSION, works_since: null },
    ]);
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

import { expect } from 'chai';
import type { Host } from '#kernel';
import { type Migration, migrations } from '../../../plugins/database/contract.ts';
import { type FreshDatabase, freshDatabase } from '../../support/database.ts';
import { failureOf } from '../../support/plugin.ts';
import { holder, startGround } from './ground.ts';

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
    return holder(grant, take, { name: 'notes', contributes: { 'database.migrations': {} } });
  };
  const step = (id: string, ...statements: string[]): Migration => ({
    id,
    async up(db) {
      for (const statement of statements) await db.query(statement);
    },
  });
  const recorded = async () =>
    (await database.query<{ id: string }>('select id from platform_migrations order by id')).map(({ id }) => id);

  it('run once, in order, each recorded for its plugin', async () => {
    const first = step('1', 'create table notes (id int)');
    await (await startGround([plugin(first)], { database })).stop();
    await (
      await startGround([plugin(first, step('2', 'alter table notes add column text text'))], { database })
    ).stop();
    expect(await recorded()).to.deep.equal(['1', '2']);
    expect(await database.query('select owner from platform_migrations')).to.deep.equal([
      { owner: 'notes' },
      { owner: 'notes' },
    ]);
  });

  it('of a newer version keep an older one from starting, unless it is allowed to', async () => {
    const [first, second] = [
      step('1', 'create table notes (id int)'),
      step('2', 'alter table notes add column text text'),
    ];
    await (await startGround([plugin(first, second)], { database })).stop();
    const failed = await failureOf(startGround([plugin(first)], { database }));
    expect([failed.plugin, failed.phase, failed.message]).to.deep.equal([
      '@tenon/database',
      'migrate',
      'a newer version of notes changed the tables (2), which this version does not know',
    ]);
    expect(failed.remedy).to.contain('DB_ALLOW_NEWER_SCHEMA=true');
    const environment = { DB_ALLOW_NEWER_SCHEMA: 'true' };
    await (await startGround([plugin(first)], { database, environment })).stop();
    // A plugin that is not loaded is missed by nobody.
    await (await startGround([], { database })).stop();
  });

  it('that fail leave nothing of themselves behind, and stop the boot', async () => {
    const broken = plugin(
      step('1', 'create table notes (id int)'),
      step('2', 'create table half (id int)', 'select 1/0'),
    );
    const failed = await failureOf(startGround([broken], { database }));
    expect([failed.plugin, failed.phase, failed.message]).to.deep.equal([
      '@tenon/database',
      'migrate',
      'division by zero',
    ]);
    expect(await recorded()).to.deep.equal(['1']);
    expect(await database.query(`select to_regclass('half') as half`)).to.deep.equal([{ half: null }]);
  });

  it('of several processes that start at the same moment run once', async () => {
    const slow = plugin(
      step('1', 'create table notes (id int)', 'select pg_sleep(0.3)', 'insert into notes values (1)'),
    );
    const all = await Promise.all([1, 2, 3].map(() => startGround([slow], { database })));
    for (const one of all) await one.stop();
    expect(await database.query('select id from notes')).to.deep.equal([{ id: 1 }]);
  });

  it('have the part of the database that their plugin is granted, and no more', async () => {
    const ways: readonly [up: Migration['up'], refusal: string][] = [
      [(db) => db.ddl(db.sql`create table ${db.own('others')} (id int)`), 'change the table others'],
      [(db) => db.ddl('create table others (id int)'), 'run any statement'],
    ];
    for (const [up, refusal] of ways) {
      const register = ({ db, contribute }: Host) => void (db.schemas && contribute(migrations, { id: '1', up }));
      const contributes = { 'database.migrations': {} };
      const failed = await failureOf(
        startGround([holder({ own: ['notes'] }, register, { name: 'notes', contributes })], { database }),
      );
      expect(failed.message).to.contain(`notes may not ${refusal}`);
    }
  });

  it('of a plugin that never took its part of the database are refused', async () => {
    const register = (host: Host) => host.contribute(migrations, step('1', 'create table others (id int)'));
    const failed = await failureOf(
      startGround([holder({}, register, { name: 'notes', contributes: { 'database.migrations': {} } })], { database }),
    );
    expect(failed.message).to.contain('notes may not prepare tables');
  });

  it('with the same id twice are refused', async () => {
    const failed = await failureOf(startGround([plugin(step('1'), step('1'))], { database }));
    expect(failed.message).to.contain('two migrations called 1');
  });

  it('go through with a pool of one connection', async () => {
    const one = await startGround([plugin(step('1', 'create table notes (id int)'))], {
      database,
      environment: { DB_POOL_MAX: '1' },
    });
    await one.stop();
    expect(await recorded()).to.deep.equal(['1']);
  });
});

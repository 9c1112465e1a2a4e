import { expect } from 'chai';
import { type FreshDatabase, freshDatabase, runSqlFile } from '../../support/database.ts';
import { openSocket } from '../../support/realtime-client.ts';
import { runCommand } from '../../support/run-command.ts';
import { type InProcessService, startService } from '../../support/service.ts';
import { type SystemPostgres, startSystemPostgres } from '../../support/system-postgres.ts';
import { until } from '../../support/until.ts';
import { createUserSender } from '../users/test-users.ts';

const CHINOOK = new URL('../../data/chinook.sql', import.meta.url);

describe('database:uninstall', function () {
  this.timeout(240_000);
  let postgres: SystemPostgres;
  let database: FreshDatabase;
  let service: InProcessService | undefined;
  before(async () => {
    postgres = await startSystemPostgres();
  });
  after(() => postgres?.stop());
  beforeEach(async () => {
    database = await freshDatabase('adopted', { server: postgres.url });
    await runSqlFile(database.url, CHINOOK);
    // Names that look like those of the service, and a view that has nothing to do with it.
    await database.query(`create table platform_songs (id int primary key, title text);
      create function platform_songs_check() returns trigger language plpgsql as 'begin return new; end';
      create trigger platform_songs_check before insert on platform_songs for each row execute function platform_songs_check();
      create view platform_view as select id from platform_songs`);
  });
  afterEach(async () => {
    await service?.stop();
    service = undefined;
    await database.drop();
  });

  const schemaOf = () => postgres.dump(database.name, '--schema-only');
  const run = async (...args: readonly string[]) => {
    const { code, output } = await runCommand(['database:uninstall', ...args], {
      DB_CONNECTION_STRING: database.url,
      CONFIG_PATH: '/dev/null',
      LOG_LEVEL: 'silent',
    });
    return { code, text: output };
  };
  const start = async () => {
    service = await startService({ database, env: { CACHE_ENABLED: 'true', WEBSOCKETS_ENABLED: 'true' } });
    return createUserSender(service, service.admin.token);
  };
  const stop = async () => {
    await service?.stop();
    service = undefined;
  };

  it('leaves the schema and the rows of an adopted database as they were before the first start', async () => {
    const [before, rows] = [await schemaOf(), await postgres.dump(database.name, '--data-only')];
    const admin = await start();
    // Reads through the cache put triggers on tables, after the answer; a flow and a file leave rows.
    await until(async () => {
      expect((await admin('GET', '/items/album?limit=2&fields=*,artist_id.name')).status).to.equal(200);
      const found = await database.query(`select from pg_trigger where tgname = 'platform_rows_changed'`);
      return found.length > 0;
    }, 60_000);
    await admin('POST', '/flows', { name: 'nightly', trigger: 'schedule', options: { cron: '0 0 * * *' } });
    const socket = await openSocket(String(service?.url));
    await socket.ask({ type: 'auth', access_token: service?.admin.token });
    await socket.ask({ type: 'subscribe', collection: 'album', uid: '1' });
    socket.close();
    await stop();
    // As a killed process leaves it.
    await database.query(`create function platform_row_feed_1_0123abcd() returns trigger language plpgsql as 'begin return null; end';
      create trigger platform_row_feed_insert after insert on album referencing new table as new_rows
      for each statement execute function platform_row_feed_1_0123abcd('keys', 'album_id')`);
    expect(await schemaOf()).not.to.equal(before);

    const listed = await run();
    expect([listed.code, listed.text.includes('Nothing was removed')], listed.text).to.deep.equal([3, true]);
    expect(listed.text).to.include('platform_users').and.not.include('platform_songs');
    const done = await run('--yes');
    expect(done.code, done.text).to.equal(0);
    expect(await schemaOf()).to.equal(before);
    expect(await postgres.dump(database.name, '--data-only')).to.equal(rows);
    const again = await run('--yes');
    expect([again.code, again.text.includes('There is nothing of the service')]).to.deep.equal([0, true]);
  });

  it('keeps columns that refer to rows of the service, and drops their foreign keys alone', async () => {
    const admin = await start();
    const field = { field: 'owner', type: 'uuid', meta: { interface: 'select-dropdown-m2o' } };
    expect((await admin('POST', '/fields/album', field)).status).to.equal(200);
    const relation = { collection: 'album', field: 'owner', related_collection: 'platform_users' };
    expect((await admin('POST', '/relations', relation)).status).to.equal(200);
    await database.query('update album set owner = (select id from platform_users limit 1)');
    await stop();
    const { code, text } = await run('--yes');
    expect(code, text).to.equal(0);
    expect(text).to.match(/foreign key \S+ of public\.album; its column and values stay/);
    const owners = await database.query<{ owner: string }>('select distinct owner from album');
    expect(owners.map(({ owner }) => typeof owner)).to.deep.equal(['string']);
  });

  it('removes nothing from a database that a start refused, since another program has a table of the same name', async () => {
    await database.query(`create table platform_users (id int primary key, name text);
      insert into platform_users values (1, 'theirs');
      create table platform_processes (id int primary key);
      create schema platform_queue; create table platform_queue.job (id int primary key)`);
    const [before, rows] = [await schemaOf(), await postgres.dump(database.name, '--data-only')];
    expect((await run('--yes')).text).to.include('There is nothing of the service');
    const refused = await runCommand(['bootstrap'], {
      DB_CONNECTION_STRING: database.url,
      CONFIG_PATH: '/dev/null',
      LOG_LEVEL: 'silent',
    });
    expect([refused.code, refused.output.includes('was not created by this service')], refused.output).to.deep.equal([
      1,
      true,
    ]);
    const { code, text } = await run('--yes');
    expect([code, text.includes('There is nothing of the service')], text).to.deep.equal([0, true]);
    expect(await schemaOf()).to.equal(before);
    expect(await postgres.dump(database.name, '--data-only')).to.equal(rows);
  });

  it('keeps tables of other programs that have the name of a system collection, and their functions', async () => {
    await start();
    await stop();
    // As where a newer version has a collection of that name, whose start is refused.
    await database.query(`drop table platform_comments; create table platform_comments (id int primary key);
      create trigger platform_songs_check before insert on platform_users for each row execute function platform_songs_check();
      create function platform_audit() returns trigger language plpgsql as 'begin return new; end';
      create trigger audit before insert on platform_roles for each row execute function platform_audit()`);
    const { code, text } = await run('--yes');
    expect(code, text).to.equal(0);
    const tables = await database.query<{ name: string }>(
      `select relname::text as name from pg_class where relname like 'platform\\_%' and relkind = 'r' order by 1`,
    );
    expect(tables.map(({ name }) => name)).to.deep.equal(['platform_comments', 'platform_songs']);
    const functions = await database.query<{ name: string }>(
      `select proname::text as name from pg_proc where proname like 'platform\\_%' order by 1`,
    );
    expect(functions.map(({ name }) => name)).to.deep.equal(['platform_audit', 'platform_songs_check']);
  });

  it('removes nothing where a view of others depends on a table of the service', async () => {
    await start();
    await stop();
    await database.query('create view accounts as select email from platform_users');
    await database.query(`insert into platform_migrations (owner, id) values ('service-extension-other', 'one')`);
    const installed = await schemaOf();
    const { code, text } = await run('--yes');
    expect([code, text.includes('accounts'), text.includes('Nothing was removed')], text).to.deep.equal([
      1,
      true,
      true,
    ]);
    expect(await schemaOf()).to.equal(installed);
    expect((await run()).text).to.include('migrations of service-extension-other created stay');
  });

  it('refuses while a process of the service is connected, and unknown arguments', async () => {
    await start();
    const { code, text } = await run('--yes');
    expect([code, text.includes('stop them first')], text).to.deep.equal([1, true]);
    expect((await run('--force')).code).to.equal(2);
  });

  it('database:status tells pending migrations without changing the database, and database:migrate runs them', async () => {
    const before = await schemaOf();
    const status = async (name: string) => {
      const { code, standardOutput, output } = await runCommand(
        [name, ...(name === 'database:status' ? ['--json'] : [])],
        {
          DB_CONNECTION_STRING: database.url,
          CONFIG_PATH: '/dev/null',
          LOG_LEVEL: 'silent',
          ADMIN_EMAIL: 'admin@example.com',
          ADMIN_PASSWORD: 'correct horse battery',
        },
      );
      return { code, text: standardOutput, all: output };
    };
    const empty = await status('database:status');
    const { recorded, pending, newer } = JSON.parse(empty.text);
    expect([empty.code, recorded, newer]).to.deep.equal([3, 0, []]);
    expect(pending.length).to.be.above(10);
    expect(await schemaOf()).to.equal(before);
    const migrated = await status('database:migrate');
    expect(migrated.code, migrated.all).to.equal(0);
    const full = await status('database:status');
    expect([full.code, JSON.parse(full.text).pending], full.all).to.deep.equal([0, []]);
    await database.query(`insert into platform_migrations (owner, id) values ('@tenon/files', '2099-01-01-later')`);
    const later = await status('database:status');
    expect([later.code, JSON.parse(later.text).newer]).to.deep.equal([
      4,
      [{ owner: '@tenon/files', id: '2099-01-01-later', version: null, worksSince: null }],
    ]);
  });
});

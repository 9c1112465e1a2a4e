import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import pg from 'pg';
import type { FreshDatabase } from '../../support/database.ts';
import { ageHeartbeatsOfJobs } from '../../support/lost-jobs.ts';
import { createMigratedDatabase, type SpawnedService, spawnService } from '../../support/service.ts';
import { until } from '../../support/until.ts';
import { listLocalObjectPaths } from '../files/files-fixture.ts';
import { importFile } from './import-form.ts';

/** The advisory lock at which the database stops in the middle of a write or a read, while a test holds it. */
const GATE = 4711;
const ROWS = 3000;

describe('a process that is killed in the middle of an import or export', function () {
  this.timeout(300_000);
  let database: FreshDatabase;
  let folder: string;
  let gate: pg.Client;
  const services: SpawnedService[] = [];

  const spawn = async () => {
    const service = await spawnService({ database, env: { STORAGE_LOCAL_ROOT: folder } });
    services.push(service);
    return service;
  };
  /** Waits until a statement of the service waits for the gate. */
  const untilBlocked = () =>
    until(async () => {
      const waiting = await database.query(
        `select 1 from pg_locks where locktype = 'advisory' and objid = $1 and not granted`,
        [GATE],
      );
      return waiting.length > 0;
    }, 60_000);

  beforeEach(async () => {
    database = await createMigratedDatabase('import_export_crash');
    folder = await mkdtemp(join(tmpdir(), 'tenon-export-'));
    await database.query(`create function gate() returns trigger language plpgsql as $$
      begin if new.id = ${ROWS / 2} then perform pg_advisory_xact_lock(${GATE}); end if; return new; end $$`);
    await database.query('create table article (id int primary key, title text)');
    gate = new pg.Client(database.url);
    await gate.connect();
    await gate.query('select pg_advisory_lock($1)', [GATE]);
  });
  afterEach(async () => {
    await gate?.end();
    for (const service of services.splice(0)) await service.stop();
    await database?.drop();
    await rm(folder, { recursive: true, force: true });
  });

  it('leaves no row, no activity and no temporary file of the import', async () => {
    await database.query('create trigger gate before insert on article for each row execute function gate()');
    const service = await spawn();
    const content = `id,title\n${Array.from({ length: ROWS }, (_one, at) => `${at + 1},title\n`).join('')}`;
    const reply = importFile(service, 'article', content).catch((error: unknown) => error);
    await untilBlocked();
    await service.kill('SIGKILL');
    expect(await reply).to.be.instanceOf(Error);
    await gate.query('select pg_advisory_unlock($1)', [GATE]);
    await until(async () => {
      const open =
        await database.query(`select 1 from pg_stat_activity where datname = current_database() and query ilike '%insert into%article%'
        and pid <> pg_backend_pid() and state <> 'idle'`);
      return open.length === 0;
    });
    expect(await database.query('select 1 from article limit 1')).to.deep.equal([]);
    expect(await database.query(`select 1 from platform_activity where collection = 'article' limit 1`)).to.deep.equal(
      [],
    );
    expect((await readdir(tmpdir())).filter((name) => name.startsWith('tenon-import-'))).to.deep.equal([]);
  });

  it('leaves one file and one notification of the export, which another process writes', async () => {
    // Stable, so that the count of the rows does not call it.
    await database.query(`create function slow_title(id int) returns text language plpgsql stable as $$
      begin if id = ${ROWS - 100} then perform pg_advisory_xact_lock_shared(${GATE}); end if; return 'title ' || id; end $$`);
    await database.query(
      `create view article_view as select id, slow_title(id) as title from generate_series(1, ${ROWS}) id`,
    );
    const first = await spawn();
    const body = { query: { fields: ['id', 'title'] }, format: 'csv' };
    const reply = await first.request('POST', '/utils/export/article_view', { token: first.admin.token, body });
    expect(reply.status, JSON.stringify(reply.body)).to.equal(204);
    await untilBlocked();
    // The bytes of the first process are on their way.
    await until(async () => (await database.query('select 1 from platform_orphaned_objects')).length > 0);
    await first.kill('SIGKILL');
    await gate.query('select pg_advisory_unlock($1)', [GATE]);
    await ageHeartbeatsOfJobs(database);
    const second = await spawn();
    const [file] = await until(async () => {
      const found = await database.query<{ id: string; filename_disk: string }>(
        'select id, filename_disk from platform_files',
      );
      return found.length > 0 && found;
    }, 180_000);
    const asset = await fetch(`${second.url}/assets/${file?.id}`, {
      headers: { authorization: `Bearer ${second.admin.token}` },
    });
    expect((await asset.text()).trim().split('\n')).to.have.length(ROWS + 1);
    const notices = await database.query('select collection, item from platform_notifications');
    expect(notices).to.deep.equal([{ collection: 'platform_files', item: file?.id }]);
    // The janitor of the second process removes what the first one left.
    await until(async () => (await listLocalObjectPaths(folder)).length === 1, 120_000);
    expect(await database.query('select id from platform_files')).to.have.length(1);
  });
});

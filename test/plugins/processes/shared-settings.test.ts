import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import type { FreshDatabase } from '../../support/database.ts';
import { createMigratedDatabase, type InProcessService, startService, TEST_SECRET } from '../../support/service.ts';
import { captureError } from '../../support/test-plugins.ts';

type Settings = Readonly<Record<string, string>>;

describe('settings of two processes on one database', function () {
  this.timeout(60_000);
  const key = randomBytes(32).toString('base64');
  let database: FreshDatabase;
  let first: InProcessService;
  before(async () => {
    database = await createMigratedDatabase('processes');
    first = await startService({ database, env: { LOG_LEVEL: 'info', SECRETS_ENCRYPTION_KEY: key } });
  });
  after(async () => {
    await first?.stop();
    await database?.drop();
  });

  /** The lines about settings in the log of a second process with these settings, without what they repeat. */
  async function linesOf(env: Settings): Promise<readonly string[]> {
    const second = await startService({ database, env: { LOG_LEVEL: 'info', SECRETS_ENCRYPTION_KEY: key, ...env } });
    await second.stop();
    return second.log.flatMap(({ msg, setting, level }) =>
      setting === undefined ? [] : [`${level} ${String(msg).replace(/ that of \S+:\d+ on/, ' that of <process> on')}`],
    );
  }

  it('a process with the same settings logs no difference', async () => {
    expect(first.log.filter(({ setting }) => setting !== undefined)).to.deep.equal([]);
    expect(await linesOf({})).to.deep.equal([]);
  });

  it('a process with another PUBLIC_URL warns with both values and what they cause', async () => {
    expect(await linesOf({ PUBLIC_URL: 'https://other.example' })).to.deep.equal([
      '40 PUBLIC_URL differs from that of <process> on the same database (here https://other.example, there http://127.0.0.1:8055): ' +
        'links in mails, cookies and passkeys work for one of the addresses only. Set it to one value for all processes',
    ]);
  });

  it('a process with other schemas, storage locations, cookies or consent warns once for each', async () => {
    const lines = await linesOf({
      STORAGE_LOCATIONS: 'local,second',
      STORAGE_SECOND_DRIVER: 'local',
      STORAGE_SECOND_ROOT: '/tmp',
      REFRESH_TOKEN_COOKIE_NAME: 'other_cookie',
      EXTENSIONS_CONSENT: 'always',
    });
    const names = lines.map((line) => line.split(' ')[1]).sort();
    expect(names).to.deep.equal(['EXTENSIONS_CONSENT', 'REFRESH_TOKEN_COOKIE_NAME', 'STORAGE_LOCATIONS']);
  });

  it('a process with another SECRET warns without showing either, and the database has neither', async () => {
    const other = 'another secret that only this test knows, long enough';
    const second = await startService({
      database,
      env: { LOG_LEVEL: 'info', SECRETS_ENCRYPTION_KEY: key, SECRET: other },
    });
    const rows = JSON.stringify(await database.query('select * from platform_processes'));
    await second.stop();
    const text = JSON.stringify(second.log);
    expect(text).to.contain('SECRET differs from that of');
    expect(text).to.contain('each process refuses the access tokens and the links in mails of the other');
    for (const secret of [other, TEST_SECRET, key]) {
      expect(text).not.to.contain(secret);
      expect(rows).not.to.contain(secret);
    }
  });

  it('a process that accepts the SECRET of the others by SECRET_PREVIOUS says that it is being changed, as no warning', async () => {
    const [line] = await linesOf({
      SECRET: 'the next secret of the service, long enough',
      SECRET_PREVIOUS: TEST_SECRET,
    });
    expect(line).to.match(/^30 SECRET differs .* whose value this process accepts: until they are restarted as well,/);
  });

  it('a process with another SECRETS_ENCRYPTION_KEY does not start, and says what to do', async () => {
    const other = randomBytes(32).toString('base64');
    const failed = await captureError(startService({ database, env: { SECRETS_ENCRYPTION_KEY: other } }));
    expect([failed.plugin, failed.phase]).to.deep.equal(['@tenon/processes', 'start']);
    expect(failed.message).to.contain('SECRETS_ENCRYPTION_KEY differs from that of');
    expect(failed.message).not.to.contain(other);
    expect(failed.remedy).to.contain('set SECRETS_ENCRYPTION_KEY as in the other processes');
  });

  it('a process without SECRETS_ENCRYPTION_KEY starts with a warning', async () => {
    const second = await startService({ database, env: { LOG_LEVEL: 'info' } });
    await second.stop();
    expect(second.log.map(({ setting }) => setting)).to.include('SECRETS_ENCRYPTION_KEY');
  });

  it('a process that has stopped is not compared, and leaves no row', async () => {
    const rows = await database.query<{ version: string }>('select version from platform_processes');
    expect(rows).to.have.length(1);
    await database.query(
      `insert into platform_processes (id, name, version, settings)
       values (gen_random_uuid(), 'dead:1', '0.0.1', '{"PUBLIC_URL": ["https://dead.example"]}')`,
    );
    expect(await linesOf({})).to.deep.equal([]);
    expect(await database.query('select name from platform_processes')).to.have.length(1);
  });
});

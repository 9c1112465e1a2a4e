import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { FreshDatabase } from '../../support/database.ts';
import { runCommand } from '../../support/run-command.ts';
import { createMigratedDatabase, QUICK_HASH_SETTINGS, TEST_SECRET } from '../../support/service.ts';

interface Finding {
  readonly status: string;
  readonly text: string;
  readonly remedy?: string;
}

describe('commands for admins of the machine', function () {
  this.timeout(120_000);
  let database: FreshDatabase;
  let folder: string;
  before(async () => {
    database = await createMigratedDatabase('doctor');
    folder = await mkdtemp(join(tmpdir(), 'tenon-doctor-'));
  });
  after(async () => {
    await database?.drop();
    await rm(folder, { recursive: true, force: true });
  });

  const run = async (args: readonly string[], env: Readonly<Record<string, string>> = {}) => {
    const { code, output, standardOutput } = await runCommand(args, {
      ...QUICK_HASH_SETTINGS,
      DB_CONNECTION_STRING: database.url,
      DATA_PATH: folder,
      EXTENSIONS_PATH: join(folder, 'extensions'),
      CONFIG_PATH: '/dev/null',
      LOG_LEVEL: 'silent',
      SECRET: TEST_SECRET,
      PUBLIC_URL: 'https://example.com',
      SECRETS_ENCRYPTION_KEY: Buffer.alloc(32, 'k').toString('base64'),
      ...env,
    });
    return { code, result: standardOutput, text: output };
  };
  const doctor = async (env: Readonly<Record<string, string>> = {}) => {
    const { code, result, text } = await run(['doctor', '--json'], env);
    const { failed, warnings, checks } = JSON.parse(result || '{}');
    expect(checks, text).to.be.an('array');
    const of = (name: string): readonly Finding[] =>
      checks.find(({ check }: { check: string }) => check === name)?.findings ?? [];
    return { code, failed, warnings, of, all: checks.flatMap(({ findings }: { findings: Finding[] }) => findings) };
  };

  describe('doctor', () => {
    it('finds database, storage and secrets of a prepared service in order, and ends with 0', async () => {
      const { code, failed, of } = await doctor();
      expect([code, failed]).to.deep.equal([0, 0]);
      for (const name of ['process', 'database', 'storage', 'auth', 'secrets'])
        expect(
          of(name).map(({ status }) => status),
          name,
        ).to.satisfy((all: string[]) => all.every((one) => one === 'ok'));
      expect(
        of('database')
          .map(({ text }) => text)
          .join(' '),
      ).to.match(/PostgreSQL .*clock.*up to date/);
      expect(of('sandbox')).to.have.length(1);
    });

    it('says what to do about each setting that is missing or wrong, and ends with 1 where something fails', async () => {
      const file = join(folder, 'a file');
      await writeFile(file, '');
      const { code, all, of } = await doctor({
        ...{ SECRET: 'short', PUBLIC_URL: '/', SECRETS_ENCRYPTION_KEY: '', DB_POOL_MAX: '1000' },
        ...{ STORAGE_LOCAL_ROOT: join(file, 'below'), EMAIL_TRANSPORT: 'smtp', EMAIL_SMTP_HOST: '127.0.0.1' },
        ...{ EMAIL_SMTP_PORT: '1', REDIS: 'redis://127.0.0.1:1' },
      });
      expect(code).to.equal(1);
      const statuses = Object.fromEntries(
        ['process', 'auth', 'secrets', 'storage', 'mail', 'redis'].map((name) => [name, of(name).at(-1)?.status]),
      );
      expect(statuses).to.deep.equal({
        ...{ process: 'warn', auth: 'warn', secrets: 'warn' },
        ...{ storage: 'fail', mail: 'fail', redis: 'fail' },
      });
      expect(of('database').some(({ text }) => text.includes('DB_POOL_MAX is 1000'))).to.equal(true);
      for (const { status, text, remedy } of all) if (status !== 'ok') expect(remedy, text).to.be.a('string');
    });

    it('looks at everything else where the database is not reached', async () => {
      const { code, of } = await doctor({ DB_CONNECTION_STRING: 'postgres://a:hidden-word@127.0.0.1:1/x' });
      expect([code, of('database')[0]?.status, of('storage')[0]?.status]).to.deep.equal([1, 'fail', 'ok']);
      expect(JSON.stringify(of('database')))
        .to.include('nothing answers')
        .and.not.include('hidden-word');
    });

    it('tells missing rights of the database user', async () => {
      const role = `limited_${database.name}`.slice(0, 60);
      await database.query(`create role "${role}" login password 'a word'`);
      try {
        const url = new URL(database.url);
        [url.username, url.password] = [role, 'a word'];
        const { code, of } = await doctor({ DB_CONNECTION_STRING: url.href });
        const texts = of('database').map(({ status, text }) => `${status} ${text}`);
        expect(code).to.equal(1);
        expect(texts.some((text) => text.startsWith('fail the database user may not create tables'))).to.equal(true);
        expect(of('queue').map(({ status }) => status)).to.deep.equal(['fail']);
        expect(of('schema').map(({ status }) => status)).to.deep.equal(['warn']);
        await database.query(
          'create function watched() returns event_trigger language plpgsql as $$begin end$$; create event trigger platform_schema_watch on ddl_command_end execute function watched()',
        );
        expect((await doctor({ DB_CONNECTION_STRING: url.href })).of('schema')[0]?.status).to.equal('ok');
      } finally {
        await database.query(`drop owned by "${role}"; drop role "${role}"`);
      }
    });

    it('warns of a storage location whose driver a package may bring, since commands load none', async () => {
      const { of } = await doctor({ STORAGE_LOCATIONS: 'local,far', STORAGE_FAR_DRIVER: 'acme' });
      const [local, far] = of('storage');
      expect([local?.status, far?.status]).to.deep.equal(['ok', 'warn']);
      expect(far?.text).to.include('acme').and.include('was not looked at');
      expect(far?.remedy).to.be.a('string');
    });

    it('warns of a PUBLIC_URL that is no web address', async () => {
      for (const url of ['content.example.com:8055', 'ftp://example.com', '/'])
        expect((await doctor({ PUBLIC_URL: url })).of('process').at(-1)?.status, url).to.equal('warn');
      expect((await doctor({ PUBLIC_URL: 'http://localhost:8055' })).of('process').at(-1)?.status).to.equal('ok');
    });

    it('tells a schema of background jobs that the database user may not use', async () => {
      const role = `queue_${database.name}`.slice(0, 60);
      await database.query(`create role "${role}" login password 'a word'; create schema if not exists platform_queue`);
      try {
        const url = new URL(database.url);
        [url.username, url.password] = [role, 'a word'];
        const queue = async () => (await doctor({ DB_CONNECTION_STRING: url.href })).of('queue')[0];
        expect((await queue())?.status).to.equal('fail');
        await database.query(`grant usage on schema platform_queue to "${role}"`);
        expect((await queue())?.status).to.equal('fail');
        await database.query(`grant create on schema platform_queue to "${role}"`);
        expect((await queue())?.status).to.equal('ok');
      } finally {
        await database.query(`drop owned by "${role}"; drop role "${role}"; drop schema platform_queue cascade`);
      }
    });

    it('creates no embedded database, and says that there is none yet, as database:status does', async () => {
      const data = join(folder, 'new-data');
      const env = { DB_CONNECTION_STRING: '', DATA_PATH: data, STORAGE_LOCAL_ROOT: join(folder, 'uploads') };
      const { code, of } = await doctor(env);
      expect(of('database').map(({ status }) => status)).to.deep.equal(['warn']);
      expect(of('database')[0]?.text).to.include('there is no database yet');
      expect([code, of('schema'), of('queue'), of('backup')]).to.deep.equal([0, [], [], []]);
      const status = await run(['database:status'], env);
      expect([status.code, status.text.includes('There is no database yet')], status.text).to.deep.equal([3, true]);
      const json = JSON.parse((await run(['database:status', '--json'], env)).result);
      expect(json).to.include({ database: null, postgres: null, recorded: 0 });
      expect(json.pending.length).to.be.above(10);
      const uninstall = await run(['database:uninstall', '--yes'], env);
      expect([uninstall.code, uninstall.text.includes('There is no database yet')]).to.deep.equal([0, true]);
      expect(await readdir(data).catch(() => [])).to.deep.equal([]);
    });
  });

  describe('config:print', () => {
    it('prints values, owners and origins, and masks secrets and passwords in addresses', async () => {
      const { code, result } = await run(['config', 'print', '--redacted'], { POSTGRES_PROGRAMS_PATH: 'x://a:word@b' });
      expect(code).to.equal(0);
      expect(result).to.include('SECRET=********** # environment, @tenon/auth');
      expect(result).to.include('PORT=8055 # default, kernel');
      expect(result).to.include('POSTGRES_PROGRAMS_PATH=x://a:**********@b');
      expect(result).not.to.include(TEST_SECRET).and.not.to.include(database.url);
    });

    it('prints secrets with --with-secrets only, and JSON with --json', async () => {
      const { result } = await run(['config:print', '--with-secrets', '--json']);
      const secret = JSON.parse(result).find(({ name }: { name: string }) => name === 'SECRET');
      expect(secret).to.include({ value: TEST_SECRET, isSecret: true, from: 'environment' });
      expect((await run(['config:print', '--redacted', '--with-secrets'])).code).to.equal(2);
    });
  });

  describe('count', () => {
    it('prints the number of rows of a collection and nothing else', async () => {
      const env = { ADMIN_EMAIL: 'admin@example.com', ADMIN_PASSWORD: 'correct horse battery' };
      expect(await run(['count', 'platform_users'], env)).to.include({ code: 0, result: '1\n' });
      const unknown = await run(['count', 'missing'], env);
      expect([unknown.code, unknown.text]).to.deep.equal([1, 'There is no collection missing.\n']);
      expect((await run(['count'], env)).code).to.equal(2);
    });
  });
});

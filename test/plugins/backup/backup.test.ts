import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { expect } from 'chai';
import pg from 'pg';
import { extract, pack } from 'tar-stream';
import { facet } from '#kernel';
import { type FreshDatabase, freshDatabase } from '../../support/database.ts';
import { runCommand } from '../../support/run-command.ts';
import { type InProcessService, QUICK_HASH_SETTINGS, startService, TEST_SECRET } from '../../support/service.ts';
import { type SystemPostgres, startSystemPostgres } from '../../support/system-postgres.ts';
import { writeTestPluginPackages } from '../../support/test-plugins.ts';
import { until } from '../../support/until.ts';
import { createUserSender, type SendAsUser } from '../users/test-users.ts';

const BYTES = Buffer.alloc(300_000, 'some bytes of a file ');

describe('backup and restore', function () {
  this.timeout(240_000);
  let postgres: SystemPostgres;
  let database: FreshDatabase;
  let service: InProcessService;
  let admin: SendAsUser;
  let folder: string;
  let files: string[];
  const databases: FreshDatabase[] = [];

  before(async () => {
    postgres = await startSystemPostgres();
    folder = await mkdtemp(join(tmpdir(), 'tenon-backup-test-'));
    database = await freshDatabase('saved', { server: postgres.url });
    databases.push(database);
    await database.query('create table note (id serial primary key, text text)');
    await database.query(`insert into note (text) select 'note ' || n from generate_series(1, 100) n`);
    service = await startService({ database, env: { STORAGE_LOCAL_ROOT: join(folder, 'uploads') } });
    admin = createUserSender(service, service.admin.token);
    files = [];
    for (const text of ['first', 'second', 'third']) files.push(await upload(Buffer.from(text)));
    files.push(await upload(BYTES));
  });
  after(async () => {
    await service?.stop();
    for (const one of databases) await one.drop();
    await postgres?.stop();
    if (folder) await rm(folder, { recursive: true, force: true });
  });

  async function upload(bytes: Buffer): Promise<string> {
    const form = new FormData();
    form.append('file', new Blob([new Uint8Array(bytes)], { type: 'text/plain' }), 'a file.txt');
    const reply = await service.request('POST', '/files', { token: service.admin.token, body: form });
    expect(reply.status, JSON.stringify(reply.body)).to.equal(200);
    return reply.body.data.id;
  }
  const emptyDatabase = async () => {
    const one = await freshDatabase('restored', { server: postgres.url });
    databases.push(one);
    return one;
  };
  const environment = (one: FreshDatabase, uploads: string, more: Readonly<Record<string, string>> = {}) => ({
    ...QUICK_HASH_SETTINGS,
    SECRET: TEST_SECRET,
    DATA_PATH: join(folder, 'data'),
    DB_CONNECTION_STRING: one.url,
    STORAGE_LOCAL_ROOT: join(folder, uploads),
    CONFIG_PATH: '/dev/null',
    LOG_LEVEL: 'silent',
    POSTGRES_PROGRAMS_PATH: postgres.programs,
    ...more,
  });
  const run = async (args: readonly string[], env: Readonly<Record<string, string>>) => {
    const { code, output, standardOutput } = await runCommand(args, env);
    return { code, text: output, result: standardOutput };
  };
  const backup = async (name: string, ...args: readonly string[]) =>
    run(['backup', join(folder, name), ...args], environment(database, 'uploads'));
  const restore = async (name: string, one: FreshDatabase, uploads: string, ...args: readonly string[]) =>
    run(['restore', join(folder, name), ...args], environment(one, uploads));
  const isEmpty = async (one: FreshDatabase) =>
    (await one.query(`select from pg_class where relnamespace = 'public'::regnamespace`)).length === 0;
  // PostgreSQL writes the condition of this index in another way once it has read its own text.
  const schemaOf = async (one: FreshDatabase) =>
    (await postgres.dump(one.name, '--schema-only')).replace(/^CREATE INDEX platform_flow_runs_under_way .*$/m, '');
  // pg_dump orders tables that refer to one another by the numbers they got when they were created.
  const rowsOf = async (one: FreshDatabase) => (await postgres.dump(one.name, '--data-only')).split('\n--\n-- ').sort();

  it('restores rows, schema and files of the moment of the backup into an empty database and folder', async () => {
    const saved = await backup('whole.backup', '--json');
    expect(saved.code, saved.text).to.equal(0);
    const summary = JSON.parse(saved.result);
    expect(summary).to.include({ objects: 4, bytes: 5 + 6 + 5 + BYTES.length, missing: 0 });
    expect(saved.text).to.include('SECRETS_ENCRYPTION_KEY');
    const [schema, rows] = [await schemaOf(database), await rowsOf(database)];
    // What comes later is not in the archive.
    await admin('POST', '/items/note', { text: 'later' });

    const target = await emptyDatabase();
    const restored = await restore('whole.backup', target, 'restored');
    expect(restored.code, restored.text).to.equal(0);
    expect(await schemaOf(target)).to.equal(schema);
    expect(await rowsOf(target)).to.deep.equal(rows);
    const copy = await startService({ database: target, env: { STORAGE_LOCAL_ROOT: join(folder, 'restored') } });
    try {
      const request = createUserSender(copy, copy.admin.token);
      expect((await request('GET', '/items/note?aggregate[count]=*')).body.data[0].count).to.equal(100);
      const reply = await fetch(`${copy.url}/assets/${files[3]}`, {
        headers: { authorization: `Bearer ${copy.admin.token}` },
      });
      expect(Buffer.from(await reply.arrayBuffer()).equals(BYTES)).to.equal(true);
    } finally {
      await copy.stop();
    }
  });

  it('leaves no temporary file, and an archive that only its owner may read', async () => {
    const { mode } = await stat(join(folder, 'whole.backup'));
    expect(mode & 0o777).to.equal(0o600);
    expect((await readdir(folder)).filter((name) => name.startsWith('.'))).to.deep.equal([]);
  });

  it('is a tar file whose checksums are those of its entries', async () => {
    const names: string[] = [];
    for await (const entry of createReadStream(join(folder, 'whole.backup')).pipe(extract())) {
      names.push(entry.header.name);
      entry.resume();
    }
    expect(names.slice(0, 2)).to.deep.equal(['manifest.json', 'database.dump']);
    expect(names.at(-1)).to.equal('SHA256SUMS');
    expect(names.filter((name) => name.startsWith('files/local/'))).to.have.length(4);
  });

  it('refuses to replace an archive, to fill a database that is not empty, and to fill a folder that is not empty', async () => {
    const existing = await backup('whole.backup');
    expect([existing.code, existing.text.includes('exists')], existing.text).to.deep.equal([1, true]);
    const target = await emptyDatabase();
    await target.query('create table other (id int)');
    const full = await restore('whole.backup', target, 'nowhere');
    expect([full.code, full.text.includes('is not empty: it has 1 tables')], full.text).to.deep.equal([1, true]);
    await mkdir(join(folder, 'used'), { recursive: true });
    await writeFile(join(folder, 'used', 'a.txt'), 'a');
    const empty = await emptyDatabase();
    const used = await restore('whole.backup', empty, 'used');
    expect([used.code, used.text.includes('storage location local is not empty')], used.text).to.deep.equal([1, true]);
    expect(await isEmpty(empty)).to.equal(true);
    const busy = await restore('whole.backup', database, 'nowhere', '--overwrite');
    expect([busy.code, busy.text.includes('stop them first')], busy.text).to.deep.equal([1, true]);
  });

  it('--overwrite restores over an earlier restore, and keeps what the archive does not have', async () => {
    const target = await emptyDatabase();
    expect((await restore('whole.backup', target, 'twice')).code).to.equal(0);
    const rows = await rowsOf(target);
    await target.query(`create table other (id int); delete from note; update platform_files set title = 'changed'`);
    const again = await restore('whole.backup', target, 'twice', '--overwrite');
    expect(again.code, again.text).to.equal(0);
    expect((await target.query('select from note')).length).to.equal(100);
    await target.query('drop table other');
    expect(await rowsOf(target)).to.deep.equal(rows);
  });

  it('--overwrite refuses a database with migrations that the archive lacks: their tables would stay without a record', async () => {
    const target = await emptyDatabase();
    expect((await restore('whole.backup', target, 'newer')).code).to.equal(0);
    // As an upgrade leaves it, which the archive is older than.
    await target.query(`create table platform_later (id int);
      insert into platform_migrations (owner, id) values ('@tenon/files', '2099-01-01-later')`);
    const rows = await rowsOf(target);
    const { code, text } = await restore('whole.backup', target, 'newer', '--overwrite');
    expect([code, /migrations .*@tenon\/files/.test(text), text.includes('empty database')], text).to.deep.equal([
      1,
      true,
      true,
    ]);
    expect(await rowsOf(target)).to.deep.equal(rows);
  });

  it('refuses where a process of the service has connected while the files were restored', async () => {
    const programs = join(folder, 'waiting-programs');
    const [listing, connected] = [join(folder, 'listing'), join(folder, 'connected')];
    await mkdir(programs);
    // pg_restore reads the list of the dump after the files are there: it waits until another process has connected.
    const wait = `case "$*" in *--list*) touch '${listing}'; while [ ! -e '${connected}' ]; do sleep 0.02; done;; esac`;
    for (const name of ['pg_dump', 'pg_restore'])
      await writeFile(join(programs, name), `#!/bin/sh\n${wait}\nexec '${join(postgres.programs, name)}' "$@"\n`, {
        mode: 0o755,
      });
    const target = await emptyDatabase();
    const env = environment(target, 'connected-files', { POSTGRES_PROGRAMS_PATH: programs });
    const restoring = run(['restore', join(folder, 'whole.backup')], env);
    const client = new pg.Client({ connectionString: target.url });
    await client.connect();
    try {
      await until(async () => (await readdir(folder)).includes('listing'));
      // As a process of the service tells that it is there.
      await client.query(`select pg_advisory_lock_shared(1952804466, hashtext('another process'))`);
      await writeFile(connected, '');
      const { code, text } = await restoring;
      expect([code, text.includes('stop them first')], text).to.deep.equal([1, true]);
      expect(await isEmpty(target)).to.equal(true);
    } finally {
      await client.end();
    }
  });

  it('--no-owner keeps grants and revokes, unless the server lacks a role that they name, and says so', async () => {
    await database.query(`create role note_reader_${database.name}; grant select on note to note_reader_${database.name};
      create function secret() returns int language sql as 'select 1'; revoke all on function secret() from public`);
    const privileges = async (one: FreshDatabase) =>
      (
        await one.query<{ read: boolean; run: boolean }>(
          `select has_table_privilege('note_reader_${database.name}', 'note', 'select') as read,
            has_function_privilege('public', 'secret()', 'execute') as run`,
        )
      )[0];
    try {
      expect((await backup('granted.backup')).code).to.equal(0);
      const target = await emptyDatabase();
      const restored = await restore('granted.backup', target, 'granted', '--no-owner');
      expect([restored.code, restored.text.includes('rivileges')], restored.text).to.deep.equal([0, false]);
      expect(await privileges(target)).to.deep.equal({ read: true, run: false });

      const none = await emptyDatabase();
      const bare = await restore('granted.backup', none, 'bare', '--no-owner', '--no-privileges');
      expect([bare.code, bare.text.includes('rivileges were left out')], bare.text).to.deep.equal([0, true]);
      expect(await privileges(none)).to.deep.equal({ read: false, run: true });
      expect((await restore('granted.backup', none, 'bare', '--no-privileges')).code).to.equal(1);
    } finally {
      await database.query(`drop function secret; drop owned by note_reader_${database.name}`);
      for (const one of databases) await one.query(`drop owned by note_reader_${database.name}`).catch(() => {});
      await database.query(`drop role note_reader_${database.name}`);
    }
    const lacking = await emptyDatabase();
    const restored = await restore('granted.backup', lacking, 'lacking', '--no-owner', '--json');
    expect(restored.code, restored.text).to.equal(0);
    expect(JSON.parse(restored.result).missingRoles).to.deep.equal([`note_reader_${database.name}`]);
  });

  it('writes nothing where the archive is damaged, cut off, of another kind or of a newer version', async () => {
    const whole = await readFile(join(folder, 'whole.backup'));
    const damaged = Buffer.from(whole);
    const at = damaged.indexOf('some bytes of a file', Math.floor(whole.length / 4));
    damaged[at] = 'S'.charCodeAt(0);
    await writeFile(join(folder, 'damaged.backup'), damaged);
    await writeFile(join(folder, 'cut.backup'), whole.subarray(0, whole.length - 200_000));
    await writeFile(join(folder, 'other.backup'), 'a text');
    await writeManifest('newer.backup', ({ database: about }) => {
      about.migrations.push({ owner: '@tenon/files', id: '2099-01-01-later' });
    });
    await writeManifest('later-server.backup', ({ database: about }) => {
      about.version = 990_000;
    });
    await writeManifest('roles.backup', ({ database: about }) => {
      about.roles.push('an_unknown_role');
    });
    const refused = [
      ['damaged.backup', 'is damaged: files/local/'],
      ['cut.backup', 'is cut off'],
      ['other.backup', 'is no backup of this service'],
      ['missing.backup', 'cannot be read (ENOENT)'],
      ['newer.backup', 'newer version of the service'],
      ['later-server.backup', 'restore into PostgreSQL 99'],
      ['roles.backup', 'no role an_unknown_role'],
    ] as const;
    await Promise.all(
      refused.map(async ([name, reason]) => {
        const target = await emptyDatabase();
        const { code, text } = await restore(name, target, `of ${name}`);
        expect([code, text.includes(reason)], `${name}: ${text}`).to.deep.equal([1, true]);
        expect(text, name)
          .to.include('What to do:')
          .and.not.match(/\n\s+at /);
        expect(await isEmpty(target), name).to.equal(true);
      }),
    );
  });

  /** Writes an archive with the manifest of the whole one, changed. */
  // biome-ignore lint/suspicious/noExplicitAny: the form of a manifest belongs to the plugin
  async function writeManifest(name: string, change: (manifest: any) => void): Promise<void> {
    const target = pack();
    for await (const entry of createReadStream(join(folder, 'whole.backup')).pipe(extract())) {
      const parts: Buffer[] = [];
      for await (const part of entry) parts.push(part as Buffer);
      let content = Buffer.concat(parts);
      if (entry.header.name === 'manifest.json') {
        const manifest = JSON.parse(content.toString());
        change(manifest);
        content = Buffer.from(JSON.stringify(manifest));
      }
      target.entry({ name: entry.header.name, size: content.length }, content);
    }
    target.finalize();
    await pipeline(target as unknown as NodeJS.ReadableStream, createWriteStream(join(folder, name)));
  }

  it('names the client programs that are missing, or older than the server', async () => {
    const none = { ...environment(database, 'uploads'), POSTGRES_PROGRAMS_PATH: folder };
    const missing = await run(['backup', join(folder, 'none.backup')], none);
    expect([missing.code, missing.text.includes(`postgresql-client-${postgres.major}`)], missing.text).to.deep.equal([
      1,
      true,
    ]);
    expect(missing.text).to.include('are missing');
    const embedded = await freshDatabase('newer_server');
    try {
      await embedded.query('create table platform_migrations (owner text, id text, at timestamptz default now())');
      await embedded.query(`insert into platform_migrations values ('one', 'two')`);
      const [row] = await embedded.query<{ major: number }>(
        `select current_setting('server_version_num')::int / 10000 as major`,
      );
      const older = await run(['backup', join(folder, 'none.backup')], environment(embedded, 'uploads'));
      // A run with a server of its own may have one that is as old as the programs.
      if ((row?.major ?? 0) > postgres.major)
        expect([older.code, older.text.includes('are older')], older.text).to.deep.equal([1, true]);
      else expect(older.text).not.to.include('are older');
    } finally {
      await embedded.drop();
    }
  });

  it('saves what is there, lists the objects that storage has lost, and ends with 3', async () => {
    const id = await upload(Buffer.from('soon gone'));
    const { filename_disk: name } = (await admin('GET', `/files/${id}?fields=filename_disk`)).body.data;
    await rm(join(folder, 'uploads', name));
    const saved = await backup('lost.backup');
    expect([saved.code, saved.text.includes(`${name} is missing`)], saved.text).to.deep.equal([3, true]);
    const target = await emptyDatabase();
    const restored = await restore('lost.backup', target, 'lost');
    expect([restored.code, restored.text.includes(`${name} is missing`)], restored.text).to.deep.equal([3, true]);
    await admin('DELETE', `/files/${id}`);
  });

  it('saves and restores the packages that are published for all processes', async () => {
    const location = { EXTENSIONS_LOCATION: 'local', EXTENSIONS_CONSENT: 'off' };
    const shop = join(folder, 'shop');
    await mkdir(shop);
    const about = { type: 'endpoint', path: 'index.js', source: 'index.js', host: '*', runtime: 'confined-server' };
    const manifest = { name: 'service-extension-shop', version: '1.0.0', 'service:extension': about };
    await writeFile(join(shop, 'package.json'), JSON.stringify(manifest));
    await writeFile(join(shop, 'index.js'), 'export default () => {};');
    const published = await run(['extensions', 'publish', shop], environment(database, 'uploads', location));
    expect(published.code, published.text).to.equal(0);
    const saved = await run(['backup', join(folder, 'shop.backup')], environment(database, 'uploads', location));
    expect(saved.code, saved.text).to.equal(0);
    const target = await emptyDatabase();
    const restored = await restore('shop.backup', target, 'shop-restored');
    expect(restored.code, restored.text).to.equal(0);
    const [row] = await target.query<{ archive: string }>('select archive from platform_published_extensions');
    const name = `extension__${row?.archive}.tgz`;
    const read = async (uploads: string) => {
      const found = (await readdir(join(folder, uploads), { recursive: true })).find((path) => path.endsWith(name));
      return readFile(join(folder, uploads, String(found)));
    };
    expect(await read('shop-restored')).to.deep.equal(await read('uploads'));
    await run(['extensions', 'unpublish', 'service-extension-shop'], environment(database, 'uploads', location));
  });

  it('keeps processes from removing objects while the lock of a backup is held', async () => {
    const [kept, later] = [await upload(Buffer.from('held')), await upload(Buffer.from('a trigger'))];
    const { filename_disk: name } = (await admin('GET', `/files/${kept}?fields=filename_disk`)).body.data;
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    try {
      await client.query(`select pg_advisory_lock(1952804464, hashtext('files removal hold'))`);
      const begin = performance.now();
      expect((await admin('DELETE', `/files/${kept}`)).status).to.equal(204);
      expect(performance.now() - begin, 'the answer does not wait for the backup').to.be.below(5000);
      expect(await readdir(join(folder, 'uploads'))).to.include(name);
    } finally {
      await client.end();
    }
    await admin('DELETE', `/files/${later}`);
    await until(async () => !(await readdir(join(folder, 'uploads'))).includes(name));
  });

  it('restores into a schema that is there, for a database user who is no superuser', async () => {
    const source = await freshDatabase('schemas', { server: postgres.url });
    databases.push(source);
    await source.query('create schema app');
    const env = { DB_SCHEMAS: 'app,public', ADMIN_PASSWORD: 'correct horse battery' };
    // A command that starts the plugins, which create the event trigger.
    expect((await run(['count', 'platform_users'], environment(source, 'app-files', env))).code).to.equal(0);
    const saved = await run(['backup', join(folder, 'app.backup')], environment(source, 'app-files', env));
    expect(saved.code, saved.text).to.equal(0);
    const target = await emptyDatabase();
    const role = `limited_${target.name}`.slice(0, 60);
    await target.query(`create role "${role}" login; alter database "${target.name}" owner to "${role}";
      create schema app authorization "${role}"`);
    try {
      const url = new URL(target.url);
      url.username = role;
      const limited = environment({ ...target, url: url.href }, 'app-restored', env);
      const restored = await run(['restore', join(folder, 'app.backup'), '--no-owner'], limited);
      expect(restored.code, restored.text).to.equal(0);
      expect(restored.text).to.include('platform_schema_watch');
      const [row] = await target.query<{ owner: string }>(
        `select tableowner as owner from pg_tables where schemaname = 'app' and tablename = 'platform_users'`,
      );
      expect(row?.owner).to.equal(role);
    } finally {
      await target.query(`reassign owned by "${role}" to postgres; drop owned by "${role}"; drop role "${role}"`);
    }
  });

  it('leaves no download unread while it copies a large object, which servers and proxies would cut', async () => {
    const LARGE = 2_000_000;
    const sizes = new Map([
      ['a-large', LARGE],
      ['b-small', 10],
      ['c-large', LARGE],
      ['d-small', 20],
      // Larger than its row says.
      ['e-large', LARGE],
      ...Array.from({ length: 20 }, (_, at) => [`f-small-${at}`, 30 + at] as const),
    ]);
    const unread = new Set<string>();
    const opened: string[] = [];
    const waits: string[] = [];
    const open = async (name: string) => {
      const size = sizes.get(name);
      if (size === undefined) return undefined;
      opened.push(name);
      unread.add(name);
      const read = async function* () {
        yield Buffer.alloc(size - 1, 'a');
        const others = () => [...unread].filter((one) => one !== name);
        if (size === LARGE) {
          await until(() => others().length === 0, 5000).catch(() => waits.push(`${others()} while ${name} is copied`));
        }
        unread.delete(name);
        yield Buffer.from('z');
      };
      const bytes = Readable.from(read());
      bytes.once('close', () => unread.delete(name));
      return { size, bytes };
    };
    const { composition, remove } = await writeTestPluginPackages([
      {
        name: 'probe',
        manifest: { contributes: { 'storage.drivers': { names: ['probe'] } } },
        register: (host) => host.contribute(facet('storage.drivers'), { name: 'probe', open: async () => ({ open }) }),
      },
    ]);
    const source = await emptyDatabase();
    const probed = await startService({
      database: source,
      plugins: composition.plugins,
      env: { STORAGE_LOCATIONS: 'far', STORAGE_FAR_DRIVER: 'probe', POSTGRES_PROGRAMS_PATH: postgres.programs },
    });
    try {
      for (const [name, size] of sizes)
        await source.query(`insert into platform_files (id, storage, filename_disk, filename_download, filesize)
          values (gen_random_uuid(), 'far', '${name}', '${name}', ${name === 'e-large' ? 40 : size})`);
      const command = probed.kernel.commands().get('backup');
      // The row of one object is wrong, which is no reason to leave it out.
      expect(await command?.run([join(folder, 'far.backup')], async () => new Map())).to.equal(3);
      expect(waits).to.deep.equal([]);
      const entries = new Map<string, number>();
      for await (const entry of createReadStream(join(folder, 'far.backup')).pipe(extract())) {
        entries.set(entry.header.name.replace('files/far/', ''), Number(entry.header.size));
        entry.resume();
      }
      expect([...sizes].map(([name]) => entries.get(name))).to.deep.equal([...sizes.values()]);
      expect(opened.indexOf('b-small')).to.be.below(opened.indexOf('c-large'));
    } finally {
      await probed.stop();
      await remove();
    }
  });

  it('passes the password to pg_dump by its environment, and no argument has it', async () => {
    const programs = join(folder, 'programs');
    await mkdir(programs, { recursive: true });
    // Programs that tell how they are run.
    const script = `#!/bin/sh\n[ "$1" = --version ] && echo 'pg_dump (PostgreSQL) 99.1' && exit\necho "arguments: $*" >&2; env | grep ^PG >&2; exit 1\n`;
    for (const name of ['pg_dump', 'pg_restore']) await writeFile(join(programs, name), script, { mode: 0o755 });
    const url = new URL(database.url);
    url.password = 'a:word/of mine';
    const env = environment({ ...database, url: url.href }, 'uploads', { POSTGRES_PROGRAMS_PATH: programs });
    const { code, text } = await run(['backup', join(folder, 'never.backup')], env);
    expect(code, text).to.equal(1);
    const { hostname, port } = url;
    for (const line of [`PGHOST=${hostname}`, `PGPORT=${port}`, 'PGUSER=postgres', `PGDATABASE=${database.name}`])
      expect(text).to.include(line);
    expect(text).to.include('PGPASSWORD=a:word/of mine');
    expect(/arguments: (.*)/.exec(text)?.[1])
      .to.include('--snapshot=')
      .and.not.include('of mine');
  });

  it('rejects arguments that make no sense with its usage', async () => {
    const wrong = [['backup'], ['backup', 'a', 'b'], ['restore', 'a', '--unknown']];
    await Promise.all(
      wrong.map(async (args) => {
        const { code, text } = await run(args, environment(database, 'uploads'));
        expect([code, text.includes(`Usage: ${args[0]}`)], text).to.deep.equal([2, true]);
      }),
    );
  });
});

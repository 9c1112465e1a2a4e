import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import pg from 'pg';
import { NOTIFY_CHANNEL, renderBusMessage } from '../../../plugins/cluster/notify-sql.ts';
import type { IncomingFile } from '../../../plugins/files/contract.ts';
import { ORPHANS_CHANNEL } from '../../../plugins/files/orphan-triggers.ts';
import { databaseServerUrl } from '../../support/database.ts';
import { captureError } from '../../support/test-plugins.ts';
import { until } from '../../support/until.ts';
import { byteChunks, type FilesFixture, startFilesFixture } from './files-fixture.ts';

const text = (bytes: AsyncIterable<Uint8Array>): IncomingFile => ({
  bytes,
  filename: 'a.txt',
  type: 'text/plain',
  metadata: {},
});

/** A byte source that pauses after its first chunk until the test calls `go`. */
function held() {
  let go = () => {};
  let begun = () => {};
  const free = new Promise<void>((resolve) => (go = resolve));
  const first = new Promise<void>((resolve) => (begun = resolve));
  async function* bytes() {
    yield Buffer.from('one ');
    begun();
    await free;
    yield Buffer.from('two');
  }
  return { bytes: bytes(), first, go };
}

describe('the janitor of stored objects', () => {
  let ground: FilesFixture;
  before(async () => {
    ground = await startFilesFixture();
  });
  after(() => ground.stop());

  const upload = () => ground.files.create(ground.admin.caller, text(byteChunks('content')));
  const note = (place: string, name: string, writer: string | null = null) =>
    ground.database.query('insert into platform_orphaned_objects (storage, name, writer) values ($1, $2, $3)', [
      place,
      name,
      writer,
    ]);
  const call = () =>
    ground.database.query('select pg_notify($1, $2)', [NOTIFY_CHANNEL, renderBusMessage(ORPHANS_CHANNEL, null)]);
  const of = async (id: string) => (await ground.objects()).filter((name) => name.includes(id));

  for (const [how, sql] of [
    ['SQL by hand', 'delete from platform_files where id = $1'],
    ['a change of its name', `update platform_files set filename_disk = null where id = $1`],
  ] as const) {
    it(`the janitor removes the object of a file that lost it by ${how}`, async () => {
      const id = await upload();
      await ground.storage.at('local').write(`${id}__0f.webp`, byteChunks('made'));
      expect(await of(id)).to.have.length(2);
      await ground.database.query(sql, [id]);
      await until(async () => (await ground.orphanEntries()).length === 0);
      expect(await of(id)).to.deep.equal([]);
    });
  }

  it('updates that keep the object, and rolled back deletes, make no entry in the ledger', async () => {
    const id = await upload();
    await ground.database.query(`update platform_files set title = 'x', filename_disk = filename_disk where id = $1`, [
      id,
    ]);
    await ground.database.query(`do $$ begin
      begin delete from platform_files; raise exception 'no'; exception when others then null; end; end $$`);
    expect(await ground.orphanEntries()).to.deep.equal([]);
    expect(await of(id)).to.have.length(1);
  });

  it('the janitor removes objects of processes that ended, and none that a live process is writing', async () => {
    const [whole, partial] = [randomUUID(), randomUUID()];
    const gone = randomUUID();
    await ground.storage.at('local').write(`${whole}.txt`, byteChunks('1'));
    await note('local', `${whole}.txt`, gone);
    await note('local', `${partial}.txt`, gone);
    const { bytes, first, go } = held();
    const writing = ground.files.create(ground.admin.caller, text(bytes));
    await first;
    const other = await startFilesFixture({ database: ground.database, env: { STORAGE_LOCAL_ROOT: ground.folder } });
    try {
      await call();
      await until(async () => (await ground.orphanEntries()).length === 1);
      expect((await ground.orphanEntries())[0]?.writer).to.equal(ground.presence.id);
      go();
      const id = await writing;
      expect((await ground.bytes(id)).toString()).to.equal('one two');
      expect(await of(whole)).to.deep.equal([]);
      expect(await ground.orphanEntries()).to.deep.equal([]);
    } finally {
      await other.stop();
    }
  });

  it('the janitor never removes an object that a row names', async () => {
    const id = await upload();
    await note('local', `${id}.txt`);
    await note('local', `${id}.txt`, randomUUID());
    await call();
    await until(async () => (await ground.orphanEntries()).length === 0);
    expect((await ground.bytes(id)).toString()).to.equal('content');
  });

  it('the janitor removes an object that this process abandoned while the database was unreachable', async () => {
    const name = `${randomUUID()}.txt`;
    await ground.storage.at('local').write(name, byteChunks('1'));
    await note('local', name, ground.presence.id);
    await call();
    await until(async () => (await ground.orphanEntries()).length === 0);
    expect(await ground.objects()).not.to.include(name);
  });

  it('a storage that fails to remove one object is logged once, and all other objects are removed', async () => {
    const second = ground.storage.at('second');
    const { remove } = second;
    const [stubborn, other, unknown] = [`${randomUUID()}.txt`, `${randomUUID()}.txt`, `${randomUUID()}.txt`];
    for (const name of [stubborn, other]) await second.write(name, byteChunks('1'));
    await ground.storage.at('local').write(other, byteChunks('1'));
    const removedNames: string[] = [];
    Object.assign(second, {
      async remove(name: string) {
        removedNames.push(name);
        if (name === stubborn) throw new Error('the storage is down');
        return remove(name);
      },
    });
    try {
      await note('second', stubborn);
      await note('former', unknown);
      await note('second', other);
      await note('local', other);
      for (let time = 0; time < 2; time++) {
        removedNames.length = 0;
        await call();
        await until(async () => removedNames.includes(stubborn) && (await ground.orphanEntries()).length === 2);
      }
      expect((await ground.orphanEntries()).map(({ storage }) => storage).sort()).to.deep.equal(['former', 'second']);
      expect([await ground.objects('second'), (await ground.objects()).includes(other)]).to.deep.equal([
        [stubborn],
        false,
      ]);
      const warnings = ground.log.filter(({ msg }) => String(msg).includes('cannot be removed now'));
      expect(warnings.map(({ storage }) => storage).sort()).to.deep.equal(['former', 'second']);
    } finally {
      Object.assign(second, { remove });
    }
    await ground.database.query(`delete from platform_orphaned_objects where storage = 'former'`);
    await call();
    await until(async () => (await ground.orphanEntries()).length === 0);
    expect(await ground.objects('second')).to.deep.equal([]);
  });

  it('the janitor waits while another process holds the lock of the location', async () => {
    const name = `${randomUUID()}.txt`;
    let release = () => {};
    let held = () => {};
    const isHeld = new Promise<void>((resolve) => (held = resolve));
    const other = await startFilesFixture({ database: ground.database, env: { STORAGE_LOCAL_ROOT: ground.folder } });
    try {
      const working = other.lock.attempt('files janitor local', () => {
        held();
        return new Promise<void>((resolve) => (release = resolve));
      });
      await Promise.race([isHeld, working]);
      await ground.storage.at('local').write(name, byteChunks('1'));
      await note('local', name);
      const id = await upload();
      let answered = false;
      const deleting = ground
        .request('DELETE', `/files/${id}`, { token: ground.admin.token })
        .then(() => (answered = true));
      await until(async () => (await ground.orphanEntries()).length === 2);
      expect([answered, (await ground.objects()).includes(name)]).to.deep.equal([false, true]);
      release();
      await deleting;
      expect([await ground.orphanEntries(), await of(id)]).to.deep.equal([[], []]);
    } finally {
      await other.stop();
    }
  });

  describe('while the database is unreachable', () => {
    const slow = (when: string) =>
      ground.database.query(`create or replace function wait_here() returns trigger language plpgsql as $$
          begin perform pg_sleep(20); return new; end $$;
        create or replace trigger wait_here before insert on platform_files for each row when (${when})
          execute function wait_here()`);
    const cut = (where: string) =>
      ground.database.query<{ pid: number }>(
        `select pid, pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid() and ${where}`,
      );

    it('connections lost in the middle of the bytes leave either a complete file or none', async () => {
      const { bytes, first, go } = held();
      const writing = ground.files.create(ground.admin.caller, text(bytes));
      await first;
      await cut('true');
      go();
      const id = await writing.catch((error) => {
        expect(error).to.include({ code: 'SERVICE_UNAVAILABLE' });
        return undefined;
      });
      await until(async () => (await ground.orphanEntries()).length === 0);
      if (id) expect((await ground.bytes(id)).toString()).to.equal('one two');
      await agree();
    });

    it('connections lost while the row is written leave neither row nor object', async () => {
      await slow(`new.title = 'A'`);
      try {
        const writing = captureError(upload());
        await until(async () => (await cut(`wait_event = 'PgSleep'`)).length > 0);
        expect(await writing).to.include({ code: 'SERVICE_UNAVAILABLE' });
        await until(async () => (await ground.orphanEntries()).length === 0);
        await agree();
      } finally {
        await ground.database.query('drop trigger wait_here on platform_files');
      }
    });

    it('an upload of a process that others count as ended fails with SERVICE_UNAVAILABLE and leaves nothing', async () => {
      const other = await startFilesFixture({ database: ground.database, env: { STORAGE_LOCAL_ROOT: ground.folder } });
      const server = new pg.Client({ connectionString: databaseServerUrl() });
      await server.connect();
      const open = (yes: boolean) => server.query(`alter database "${ground.database.name}" allow_connections ${yes}`);
      try {
        // Opens the database connections of the other process, since new ones are refused below.
        await Promise.all(
          Array.from({ length: 6 }, () => other.request('GET', '/files', { token: other.admin.token })),
        );
        const { bytes, first, go } = held();
        const writing = captureError(ground.files.create(ground.admin.caller, text(bytes)));
        await first;
        await open(false);
        try {
          const killed =
            await cut(`pid in (select pid from pg_locks where locktype = 'advisory' and classid = 1952804466
            and objid = (hashtext('${ground.presence.id}')::int8 & 4294967295)::oid)`);
          expect(killed).to.have.length(1);
          await call();
          await until(async () => (await ground.orphanEntries()).length === 0);
        } finally {
          await open(true);
        }
        go();
        expect(await writing).to.include({ code: 'SERVICE_UNAVAILABLE' });
        await until(async () => (await ground.orphanEntries()).length === 0);
        await agree();
      } finally {
        await server.end();
        await other.stop();
      }
    });

    /** Asserts that storage holds exactly the objects that rows of platform_files name. */
    async function agree(): Promise<void> {
      const rows = await ground.database.query<{ name: string }>(
        'select filename_disk as name from platform_files where filename_disk is not null',
      );
      expect(await ground.objects()).to.deep.equal(rows.map(({ name }) => name).sort());
    }
  });

  // Runs last, since `truncate … cascade` empties platform_users too.
  describe('after truncate of platform_files', () => {
    it('the janitor removes all objects after truncate of platform_files', async () => {
      const id = await upload();
      await ground.database.query('truncate platform_files cascade');
      await until(async () => (await ground.orphanEntries()).length === 0);
      expect([await of(id), await ground.objects()]).to.deep.equal([[], []]);
    });
  });
});

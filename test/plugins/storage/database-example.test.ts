import { cp, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { type StorageLocation, type StorageService, storage } from '../../../plugins/storage/contract.ts';
import type { FreshDatabase } from '../../support/database.ts';
import { createMigratedDatabase, type InProcessService, startService } from '../../support/service.ts';
import { sha256 } from '../../support/sha256.ts';
import { captureError, type TestComposition, writeTestPluginPackages } from '../../support/test-plugins.ts';
import { createPausedByteSource, createTestBytes, readAllBytes, yieldByteChunks } from './bytes.ts';
import { describeStorageDriverConformance } from './conformance.ts';

const EXAMPLE = fileURLToPath(new URL('../../../extensions/examples/storage-database/', import.meta.url));
const CHUNK = 256 * 1024;

/** Tests a copy of the example in an EXTENSIONS_PATH outside of the repository, as its README says to install it. */
describe('example extension storage-database', () => {
  let database: FreshDatabase;
  let extension: TestComposition;
  let service: InProcessService;
  let used: StorageService;
  let location: StorageLocation;

  const start = () =>
    startService({
      database,
      env: {
        EXTENSIONS_PATH: join(extension.folder, 'local'),
        STORAGE_LOCATIONS: 'db,archive',
        STORAGE_DB_DRIVER: 'database',
        STORAGE_DB_HEALTHCHECK_THRESHOLD: '60s',
        STORAGE_ARCHIVE_DRIVER: 'database',
      },
    });
  before(async function () {
    this.timeout(120_000);
    database = await createMigratedDatabase('stored');
    extension = await writeTestPluginPackages([
      {
        name: 'user',
        thirdParty: true,
        manifest: { uses: { storage: '^1.0.0' } },
        register(host) {
          used = host.use({ storage }).storage;
        },
      },
    ]);
    await cp(EXAMPLE, join(extension.folder, 'local/storage-database'), { recursive: true });
    service = await start();
    location = used.at('db');
  });
  after(async () => {
    await service?.stop();
    await database?.drop();
    await extension?.remove();
  });

  const write = (name: string, data: Uint8Array) => location.write(name, yieldByteChunks(data));
  const rows = async (table: string) =>
    Number((await database.query<{ count: string }>(`select count(*) from platform_stored_${table}`))[0]?.count);

  // `many` exceeds one page: the example lists 500 objects at a time.
  describe('storage-database: conformance of the driver', () =>
    describeStorageDriverConformance(async () => location, { many: 510 }));

  it('the audit lists only the grants that the extension needs', () => {
    const line = service.kernel.audit().find(({ name }) => name === 'storage-database');
    expect(JSON.stringify(line))
      .to.contain('platform_stored_objects')
      .and.to.contain('storage driver database')
      .and.not.to.contain('runs any statement');
  });

  it('the location is healthy and is the default', async () => {
    const { token } = service.admin;
    const health = await service.request('GET', '/server/health', { token });
    expect(health.body.checks['storage:db:responseTime'][0]).to.include({ componentType: 'objectstore', status: 'ok' });
    expect(used.locations).to.deep.equal(['db', 'archive']);
  });

  it('an uploaded file is stored in the database and removed with its row', async () => {
    const { token } = service.admin;
    const form = new FormData();
    form.append('title', 'In the database');
    form.append('file', new Blob([createTestBytes(2_000_000)]), 'large.bin');
    const created = await service.request('POST', '/files', { token, body: form });
    expect(created.status, JSON.stringify(created.body)).to.equal(200);
    const { id, storage: kept, filename_disk } = created.body.data;
    expect(kept).to.equal('db');
    expect((await location.stat(filename_disk))?.size).to.equal(2_000_000);
    const headers = { authorization: `Bearer ${token}`, range: 'bytes=300000-299999999' };
    const part = await fetch(`${service.url}/assets/${id}`, { headers });
    expect(part.status).to.equal(206);
    expect(sha256(Buffer.from(await part.arrayBuffer()))).to.equal(
      sha256(createTestBytes(2_000_000).subarray(300_000)),
    );
    expect((await service.request('DELETE', `/files/${id}`, { token })).status).to.equal(204);
    expect(await location.stat(filename_disk)).to.equal(undefined);
  });

  it('the tables of the extension are not in the API', async () => {
    const { body } = await service.request('GET', '/collections', { token: service.admin.token });
    expect(JSON.stringify(body)).not.to.contain('stored_');
  });

  it('objects survive a restart of the service', async () => {
    await write('kept.bin', createTestBytes(700_000));
    await service.stop();
    service = await start();
    location = used.at('db');
    expect(sha256(await readAllBytes((await location.open('kept.bin'))?.bytes as never))).to.equal(
      sha256(createTestBytes(700_000)),
    );
    await location.remove('kept.bin');
  });

  it('two locations do not share objects', async () => {
    await write('same.bin', createTestBytes(10, 1));
    await used.at('archive').write('same.bin', yieldByteChunks(createTestBytes(20, 2)));
    expect((await location.stat('same.bin'))?.size).to.equal(10);
    await location.remove('same.bin');
    expect((await used.at('archive').stat('same.bin'))?.size).to.equal(20);
    await used.at('archive').remove('same.bin');
  });

  it('asFile() lends an object as a temporary file', async () => {
    await write('lent.txt', Buffer.from('to be read by a program'));
    expect(String(await location.asFile('lent.txt', (path) => readFile(path)))).to.equal('to be read by a program');
    await location.remove('lent.txt');
  });

  it('a range reads only the rows that hold it', async () => {
    await write('large.bin', createTestBytes(20 * CHUNK));
    // Deletes the other rows of the object, which a read of the range must not need.
    await database.query('delete from platform_stored_chunks where part not in (7, 8)');
    const opened = await location.open('large.bin', { start: 8 * CHUNK - 5, end: 8 * CHUNK + 4 });
    expect(await readAllBytes(opened?.bytes as never)).to.deep.equal(
      createTestBytes(20 * CHUNK).subarray(8 * CHUNK - 5, 8 * CHUNK + 5),
    );
    const broken = await location.open('large.bin', { start: 0, end: 9 * CHUNK });
    expect((await captureError(readAllBytes(broken?.bytes as never))).message).to.contain('removed while it was read');
    await location.remove('large.bin');
  });

  it('failed writes, replaced and removed objects leave no rows', async () => {
    const before = [await rows('objects'), await rows('chunks')];
    await write('a.bin', createTestBytes(3 * CHUNK));
    await write('a.bin', createTestBytes(CHUNK + 1));
    expect([await rows('objects'), await rows('chunks')]).to.deep.equal([
      (before[0] as number) + 1,
      (before[1] as number) + 2,
    ]);
    const { source, reached, fail } = createPausedByteSource(createTestBytes(2 * CHUNK));
    const failing = captureError(location.write('b.bin', source));
    await reached;
    expect(await rows('chunks')).to.equal((before[1] as number) + 4);
    fail(new Error('no more'));
    await failing;
    await location.remove('a.bin');
    expect([await rows('objects'), await rows('chunks')]).to.deep.equal(before);
  });

  it('a write fails if its object is removed meanwhile', async () => {
    const { source, reached, goOn } = createPausedByteSource(createTestBytes(2 * CHUNK));
    const writing = captureError(location.write('c.bin', source));
    await reached;
    await location.remove('c.bin');
    goOn();
    await writing;
    expect(await location.open('c.bin')).to.equal(undefined);
    expect(await database.query(`select from platform_stored_objects where name = 'c.bin'`)).to.have.length(0);
  });

  it('slow readers and writers hold no database connection', async () => {
    await write('slow.bin', createTestBytes(8 * CHUNK));
    const readers = await Promise.all(Array.from({ length: 30 }, () => location.open('slow.bin')));
    const writers = Array.from({ length: 30 }, (_, at) => {
      const { source, reached, goOn } = createPausedByteSource(createTestBytes(CHUNK));
      return { reached, goOn, done: location.write(`slow-${at}.bin`, source) };
    });
    await Promise.all(writers.map(({ reached }) => reached));
    for (const opened of readers) await new Promise((resolve) => opened?.bytes.once('readable', resolve));
    // Sixty reads and writes are open, and the pool has ten connections.
    expect((await location.stat('slow.bin'))?.size).to.equal(8 * CHUNK);
    for (const opened of readers) opened?.bytes.destroy();
    for (const { goOn } of writers) goOn();
    await Promise.all(writers.map(({ done }) => done));
    for (let at = 0; at < 30; at++) await location.remove(`slow-${at}.bin`);
    await location.remove('slow.bin');
  });

  it('a start removes unfinished objects older than a day', async () => {
    const pending = `insert into platform_stored_objects (id, location, name, begun) values (gen_random_uuid(), 'db', $1, now() - $2::interval)`;
    await database.query(pending, ['old.bin', '25 hours']);
    await database.query(pending, ['young.bin', '1 hour']);
    await service.stop();
    service = await start();
    location = used.at('db');
    const left = await database.query('select name from platform_stored_objects where modified is null');
    expect(left).to.deep.equal([{ name: 'young.bin' }]);
    await location.remove('young.bin');
    expect(await database.query('select from platform_stored_objects where modified is null')).to.have.length(0);
  });
});

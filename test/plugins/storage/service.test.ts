import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { Readable } from 'node:stream';
import { expect } from 'chai';
import { facet } from '#kernel';
import type { Kernel } from '#kernel/boot';
import { type HealthCheck, health } from '../../../plugins/server/contract.ts';
import { type StorageDriver, type StorageService, storage } from '../../../plugins/storage/contract.ts';
import { sha256 } from '../../support/sha256.ts';
import { captureError, type TestPlugin, withBootedTestPlugins } from '../../support/test-plugins.ts';
import { createTestBytes, readAllBytes, yieldByteChunks } from './bytes.ts';
import { createMemoryStorageDriver, type MemoryStorageDriver } from './memory-driver.ts';

/** A third-party plugin that contributes a driver. It names the facet by its id, without an import. */
const brings = (driver: StorageDriver, declared: readonly string[] = ['memory']): TestPlugin => ({
  name: 'storage-memory',
  thirdParty: true,
  manifest: { contributes: { 'storage.drivers': { names: declared } } },
  register: (host) => host.contribute(facet('storage.drivers'), { name: 'memory', open: async () => driver }),
});

describe('service storage', () => {
  let folder: string;
  let driver: MemoryStorageDriver;
  let checks: () => readonly HealthCheck[];
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tenon-storage-'));
    driver = createMemoryStorageDriver();
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  /** Boots the service with the locations `local` and `mem`, the second one on a third-party driver. */
  async function started<T>(
    work: (used: StorageService, kernel: Kernel) => Promise<T>,
    { drivers = [brings(driver)], onStart }: { drivers?: TestPlugin[]; onStart?: (used: StorageService) => void } = {},
  ): Promise<T> {
    let used: StorageService | undefined;
    const user: TestPlugin = {
      name: 'user',
      manifest: { uses: { storage: '^1.0.0' }, facets: ['health'] },
      register(host) {
        used = host.use({ storage }).storage;
        host.onStart(() => onStart?.(used as StorageService));
        // Defines the facet in place of the plugin `server`, and reads the checks as its health route does.
        host.define(health);
        checks = () => host.read(health);
      },
    };
    return withBootedTestPlugins(
      [user, ...drivers],
      async ({ kernel }) => {
        await kernel.migrate();
        await kernel.start();
        return work(used as StorageService, kernel);
      },
      {
        product: ['storage', 'storage-local'],
        environment: { DATA_PATH: folder, STORAGE_LOCATIONS: 'local,mem', STORAGE_MEM_DRIVER: 'memory' },
      },
    );
  }

  it('locations keep their order and may use core and third-party drivers', () =>
    started(async (used) => {
      expect(used.locations).to.deep.equal(['local', 'mem']);
      for (const name of used.locations) {
        const location = used.at(name);
        expect(location.name).to.equal(name);
        expect(await location.write('a.txt', yieldByteChunks(createTestBytes(1000)))).to.equal(1000);
        const opened = await location.open('a.txt', { start: 10, end: 19 });
        expect(opened?.size).to.equal(1000);
        expect(await readAllBytes(opened?.bytes as never)).to.deep.equal(createTestBytes(1000).subarray(10, 20));
        expect((await location.stat('a.txt'))?.size).to.equal(1000);
      }
      expect([...driver.objects.keys()]).to.deep.equal(['a.txt']);
      expect(existsSync(join(folder, 'uploads/a.txt'))).to.equal(true);
    }));

  it('locations are open when other plugins start, and not during migrations', async () => {
    let before: unknown;
    let during: string | undefined;
    const early: TestPlugin = {
      name: 'early',
      manifest: { uses: { storage: '^1.0.0' } },
      register(host) {
        const used = host.use({ storage }).storage;
        host.onMigrate(() => {
          try {
            used.at('local');
          } catch (error) {
            before = error;
          }
        });
      },
    };
    await started(async () => {}, {
      drivers: [early, brings(driver)],
      onStart: (used) => void (during = used.at('mem').name),
    });
    expect(before).to.include({ code: 'SERVICE_UNAVAILABLE' });
    expect(during).to.equal('mem');
  });

  it('an unknown location throws SERVICE_UNAVAILABLE', () =>
    started(async (used) => {
      for (const name of ['s3', '', '__proto__', 'LOCAL']) {
        expect(() => used.at(name), name)
          .to.throw()
          .with.property('code', 'SERVICE_UNAVAILABLE');
      }
    }));

  it('a name that is no plain path segment never reaches a driver', () =>
    started(async (used) => {
      const location = used.at('mem');
      const names = [
        '',
        '.',
        '..',
        '../a',
        'a/b',
        'a\\b',
        '/etc/passwd',
        '.partial',
        '-rf',
        'a..b',
        'a b',
        'ä',
        'a\n',
        'a\0',
      ];
      for (const name of [...names, 'x'.repeat(256)]) {
        for (const attempt of [
          () => location.open(name),
          () => location.stat(name),
          () => location.write(name, yieldByteChunks(createTestBytes(1))),
          () => location.remove(name),
          () => location.asFile(name, async () => 'done'),
        ]) {
          expect(await captureError(attempt()), JSON.stringify(name)).to.include({ code: 'INTERNAL_SERVER_ERROR' });
        }
        if (name !== '')
          expect(await captureError(location.list(name)[Symbol.asyncIterator]().next())).to.be.an('error');
      }
      expect(driver.seen).to.deep.equal([]);
    }));

  it('list() leaves out names that no object can have', () =>
    started(async (used) => {
      for (const name of ['a.txt', '.hidden', 'two words', 'b.txt']) {
        driver.objects.set(name, { data: Buffer.alloc(1), modified: new Date() });
      }
      const names: string[] = [];
      for await (const { name } of used.at('mem').list('')) names.push(name);
      expect(names).to.deep.equal(['a.txt', 'b.txt']);
    }));

  describe('Location.asFile', () => {
    // Copies are made in a TMPDIR of this test, since concurrent tests make copies too.
    const usual = process.env.TMPDIR;
    beforeEach(() => void (process.env.TMPDIR = folder));
    afterEach(() => {
      if (usual === undefined) delete process.env.TMPDIR;
      else process.env.TMPDIR = usual;
    });
    const copies = async () => (await readdir(folder)).filter((name) => name.startsWith('tenon-object-'));

    it('asFile() of a local object gives the path of the object itself', () =>
      started(async (used) => {
        await used.at('local').write('a.jpg', yieldByteChunks(createTestBytes(100_000)));
        const seen = await used
          .at('local')
          .asFile('a.jpg', async (path) => ({ path, hash: sha256(readFileSync(path)) }));
        expect(seen?.hash).to.equal(sha256(createTestBytes(100_000)));
        expect(existsSync(seen?.path as string)).to.equal(true);
        expect(['local', 'mem'].map((name) => used.at(name).copies)).to.deep.equal([false, true]);
      }));

    it('asFile() of another driver gives a copy with the same name and deletes it afterwards', () =>
      started(async (used) => {
        const before = await copies();
        await used.at('mem').write('a.jpg', yieldByteChunks(createTestBytes(100_000)));
        const seen = await used.at('mem').asFile('a.jpg', async (path) => ({ path, hash: sha256(readFileSync(path)) }));
        expect(seen?.hash).to.equal(sha256(createTestBytes(100_000)));
        expect(basename(seen?.path as string)).to.equal('a.jpg');
        expect(await copies()).to.deep.equal(before);
      }));

    it('asFile() deletes its copy if the work or the read fails', () =>
      started(async (used) => {
        const before = await copies();
        await used.at('mem').write('a.jpg', yieldByteChunks(createTestBytes(100)));
        const failed = used.at('mem').asFile('a.jpg', async (path) => {
          expect(existsSync(path)).to.equal(true);
          throw new Error('no picture');
        });
        expect((await captureError(failed)).message).to.equal('no picture');
        const failing = () => used.at('mem').asFile('a.jpg', async () => expect.fail('it ran'));
        const torn = async function* () {
          yield createTestBytes(5);
          throw new Error('torn');
        };
        driver.open = async () => ({ size: 10, bytes: Readable.from(torn()) });
        expect((await captureError(failing())).message).to.equal('torn');
        // The error occurs before the first read: without a listener it would end the process.
        driver.open = async () => ({ size: 10, bytes: new Readable({ read() {} }).destroy(new Error('reset')) });
        expect((await captureError(failing())).message).to.equal('reset');
        expect(await copies()).to.deep.equal(before);
      }));

    it('asFile() of a missing object is undefined and does no work', () =>
      started(async (used) => {
        for (const name of used.locations) {
          expect(await used.at(name).asFile('none', async () => expect.fail('it ran'))).to.equal(undefined);
        }
      }));
  });

  describe('stop of the service', () => {
    it('stop closes every driver once', async () => {
      await started(async (_used, kernel) => {
        await kernel.stop();
        await kernel.stop();
      });
      expect(driver.closed).to.equal(1);
    });

    it('a driver that cannot open fails the start and closes those opened before', async () => {
      const failing: TestPlugin = {
        name: 'storage-broken',
        thirdParty: true,
        manifest: { contributes: { 'storage.drivers': { names: ['broken'] } } },
        register: (host) =>
          host.contribute(facet('storage.drivers'), {
            name: 'broken',
            open: () => Promise.reject(new Error('BUCKET is missing')),
          }),
      };
      const failure = await captureError(
        withBootedTestPlugins(
          [brings(driver), failing],
          async ({ kernel }) => {
            await kernel.migrate();
            await kernel.start();
          },
          {
            product: ['storage'],
            environment: { STORAGE_LOCATIONS: 'a,b', STORAGE_A_DRIVER: 'memory', STORAGE_B_DRIVER: 'broken' },
          },
        ),
      );
      expect(failure.message).to.equal('the location b cannot be opened by the driver broken: BUCKET is missing');
      expect(failure.remedy).to.contain('STORAGE_B_');
      expect(driver.closed).to.equal(1);
    });
  });

  it('a driver that is not declared in the manifest of its extension is not used', async () => {
    const failure = await captureError(started(async () => {}, { drivers: [brings(driver, ['something-else'])] }));
    expect(failure.message).to.contain('driver memory (STORAGE_MEM_DRIVER), which no plugin brings');
  });

  describe('health checks of locations', () => {
    it('each location has a check, which leaves no object', () =>
      started(async () => {
        expect(
          checks().map(({ name, componentType, threshold }) => ({ name, componentType, threshold })),
        ).to.deep.equal([
          { name: 'storage:local:responseTime', componentType: 'objectstore', threshold: 750 },
          { name: 'storage:mem:responseTime', componentType: 'objectstore', threshold: 750 },
        ]);
        for (const { check } of checks()) expect((await check()).value).to.be.above(0);
        expect(driver.objects.size).to.equal(0);
        expect((await readdir(join(folder, 'uploads'))).filter((name) => !name.startsWith('.'))).to.deep.equal([]);
      }));

    /** Runs the check of the location with the memory driver. */
    const checkMemory = async () =>
      checks()
        .find(({ name }) => name.includes(':mem:'))
        ?.check();

    const troubles: readonly [what: string, part: Partial<StorageDriver>, message: string][] = [
      ['does not take bytes', { write: () => Promise.reject(new Error('read-only')) }, 'read-only'],
      ['does not have what it took', { open: async () => undefined }, 'the object that was written is missing'],
      ['does not drop what it has', { remove: () => Promise.reject(new Error('denied')) }, 'denied'],
    ];
    for (const [what, part, message] of troubles) {
      it(`the check fails if a location ${what}`, () =>
        started(async () => {
          Object.assign(driver, part);
          expect((await captureError(checkMemory())).message).to.equal(message);
        }));
    }

    it('objects of failed checks are removed by the next successful check', () =>
      started(async () => {
        const { remove } = driver;
        driver.remove = () => Promise.reject(new Error('denied'));
        for (let time = 0; time < 3; time++) await captureError(checkMemory());
        expect(driver.objects.size).to.equal(3);
        driver.remove = remove;
        await checkMemory();
        expect(driver.objects.size).to.equal(0);
      }));

    it('a check after a long outage removes a few objects only, and further checks the others', () =>
      started(async () => {
        const { remove } = driver;
        driver.remove = () => Promise.reject(new Error('denied'));
        for (let time = 0; time < 12; time++) await captureError(checkMemory());
        let removals = 0;
        driver.remove = (name) => {
          removals++;
          return remove(name);
        };
        await checkMemory();
        expect(removals).to.equal(5);
        for (let time = 0; time < 3; time++) await checkMemory();
        expect(driver.objects.size).to.equal(0);
      }));

    it('concurrent checks of a hanging location share one attempt', () =>
      started(async () => {
        let writes = 0;
        const gate = Promise.withResolvers<void>();
        const { write } = driver;
        driver.write = async (...args) => {
          writes++;
          await gate.promise;
          return write(...args);
        };
        const all = [checkMemory(), checkMemory(), checkMemory()];
        gate.resolve();
        await Promise.all(all);
        expect(writes).to.equal(1);
        await checkMemory();
        expect(writes).to.equal(2);
      }));
  });
});

import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { BootFailure } from '#kernel';
import { type StorageService, storage } from '../../../plugins/storage/contract.ts';
import { storageVariableOf } from '../../../plugins/storage/library.ts';
import { parseStorageLocations } from '../../../plugins/storage/settings.ts';
import { captureError, type TestPlugin, withBootedTestPlugins } from '../../support/test-plugins.ts';
import { yieldByteChunks } from './bytes.ts';

describe('settings of storage locations', () => {
  const parse = (locations: readonly string[], set: Record<string, string> = {}) =>
    parseStorageLocations({ STORAGE_LOCATIONS: locations, 'STORAGE_*': set });
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tenon-settings-'));
  });
  after(() => rm(folder, { recursive: true, force: true }));

  it('a setting is named STORAGE_<LOCATION>_<KEY>, in upper case with _ for -', () => {
    expect(storageVariableOf('my-Files_2', 'ROOT')).to.equal('STORAGE_MY_FILES_2_ROOT');
    const [config] = parse(['my-Files_2'], { STORAGE_MY_FILES_2_ROOT: ' /srv ', STORAGE_ROOT: 'no' });
    expect(config?.setting('ROOT')).to.equal('/srv');
    expect(config?.setting('BUCKET')).to.equal(undefined);
  });

  it('the defaults are the driver local and a health threshold of 750 ms', () => {
    const [config] = parse(['media']);
    expect([config?.driver, config?.threshold]).to.deep.equal(['local', 750]);
    const [other] = parse(['media'], { STORAGE_MEDIA_DRIVER: 's3', STORAGE_MEDIA_HEALTHCHECK_THRESHOLD: '2s' });
    expect([other?.driver, other?.threshold]).to.deep.equal(['s3', 2000]);
  });

  it('a _FILE variable wins over the plain one', async () => {
    const path = join(folder, 'secret');
    await writeFile(path, 'from the file\n');
    const [config] = parse(['media'], { STORAGE_MEDIA_SECRET_FILE: path, STORAGE_MEDIA_SECRET: 'plain' });
    expect(config?.setting('SECRET')).to.equal('from the file');
  });

  /** Starts the service with these environment variables and returns the failure. */
  const failedStart = (environment: Record<string, string>) =>
    captureError<BootFailure>(
      withBootedTestPlugins(
        [],
        async ({ kernel }) => {
          await kernel.migrate();
          await kernel.start();
        },
        { product: ['storage', 'storage-local'], environment: { DATA_PATH: folder, ...environment } },
      ),
    );

  const wrong: readonly [what: string, locations: string, env: Record<string, string>, message: RegExp][] = [
    ['no location at all', ',', {}, /STORAGE_LOCATIONS has "", which is no name/],
    ['a name with a dot', 'a.b', {}, /STORAGE_LOCATIONS has "a\.b"/],
    ['a name with a slash', 'local,../etc', {}, /STORAGE_LOCATIONS has "\.\.\/etc"/],
    ['a name twice', 'a,b,a', {}, /STORAGE_LOCATIONS names a twice/],
    [
      'names whose settings are the same',
      'a-b,A_B',
      {},
      /names a-b and A_B, whose settings have the same names \(STORAGE_A_B_\*\)/,
    ],
    [
      'an unknown driver',
      'a',
      { STORAGE_A_DRIVER: 'tape' },
      /driver tape \(STORAGE_A_DRIVER\), which no plugin brings/,
    ],
    [
      'a threshold that is none',
      'a',
      { STORAGE_A_HEALTHCHECK_THRESHOLD: 'soon' },
      /STORAGE_A_HEALTHCHECK_THRESHOLD must be a duration/,
    ],
    [
      'a file that is not there',
      'a',
      { STORAGE_A_DRIVER_FILE: '/no/such/file' },
      /STORAGE_A_DRIVER cannot be read from the file that STORAGE_A_DRIVER_FILE names \(ENOENT\)/,
    ],
    [
      'a root that is a file',
      'a',
      { STORAGE_A_ROOT: '/dev/null' },
      /nothing can be written to \/dev\/null, where the location a/,
    ],
    ['a root that can be no folder', 'a', { STORAGE_A_ROOT: '/dev/null/uploads' }, /nothing can be written to \/dev/],
  ];
  for (const [what, locations, env, message] of wrong) {
    it(`${what} stops the start with the variable and a remedy`, async () => {
      const failure = await failedStart({ STORAGE_LOCATIONS: locations, ...env });
      expect(failure.name).to.equal('BootFailure');
      expect(failure.message).to.match(message);
      expect(failure.remedy).to.match(/STORAGE_|name|letters/);
    });
  }

  it('an empty STORAGE_LOCATIONS is rejected', () => {
    expect(() => parse([])).to.throw('STORAGE_LOCATIONS names no location');
  });

  it('a root that is not writable stops the start', async () => {
    // Root may write to every folder on a disk, so for root the test uses /sys.
    const isRoot = process.getuid?.() === 0;
    const root = isRoot ? '/sys/kernel/uploads' : join(folder, 'forbidden');
    if (!isRoot) await mkdir(root, { mode: 0o555 });
    const failure = await failedStart({ STORAGE_LOCATIONS: 'a', STORAGE_A_ROOT: root });
    expect(failure.message).to.contain(isRoot ? 'EPERM' : 'EACCES');
    expect(failure.remedy).to.contain('STORAGE_A_ROOT');
  });

  it('the root is STORAGE_<LOCATION>_ROOT or a folder of its own under DATA_PATH', async () => {
    const found: string[] = [];
    const reader: TestPlugin = {
      name: 'reader',
      manifest: { uses: { storage: '^1.0.0' } },
      register(host) {
        const used: StorageService = host.use({ storage }).storage;
        host.onStart(async () => {
          for (const location of used.locations.map((name) => used.at(name))) {
            await location.write('where.txt', yieldByteChunks(Buffer.alloc(0)));
            found.push((await location.asFile('where.txt', async (path) => path)) as string);
          }
        });
      },
    };
    await withBootedTestPlugins(
      [reader],
      async ({ kernel }) => {
        await kernel.migrate();
        await kernel.start();
      },
      {
        product: ['storage', 'storage-local'],
        environment: { DATA_PATH: folder, STORAGE_LOCATIONS: 'local,archive,own', STORAGE_OWN_ROOT: `${folder}/mine` },
      },
    );
    const real = await realpath(folder);
    expect(found).to.deep.equal(['uploads', 'uploads-archive', 'mine'].map((name) => join(real, name, 'where.txt')));
  });
});

import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import {
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  truncate,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { StorageDriver } from '../../../plugins/storage/contract.ts';
import { sha256 } from '../../support/sha256.ts';
import { captureError } from '../../support/test-plugins.ts';
import { createPausedByteSource, createTestBytes, readAllBytes, yieldByteChunks } from '../storage/bytes.ts';
import { openTestLocalDriver } from './test-driver.ts';

describe('storage-local: files of objects', () => {
  let root: string;
  let driver: StorageDriver;
  const open = () => openTestLocalDriver(root);
  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'tenon-uploads-'));
    driver = await open();
  });
  afterEach(() => rm(root, { recursive: true, force: true }));

  const write = (name: string, data: Uint8Array) => driver.write(name, yieldByteChunks(data));
  const partials = () => readdir(join(root, '.partial'));
  const visible = async () => (await readdir(root)).filter((name) => !name.startsWith('.'));

  it('an object is a file with its name and bytes', async () => {
    await write('a.jpg', createTestBytes(100_000));
    expect(sha256(await readFile(join(root, 'a.jpg')))).to.equal(sha256(createTestBytes(100_000)));
    expect(await visible()).to.deep.equal(['a.jpg']);
    expect(await partials()).to.deep.equal([]);
  });

  it('a file placed by hand is an object', async () => {
    await writeFile(join(root, 'old.txt'), 'from before');
    const opened = await driver.open('old.txt');
    expect(String(await readAllBytes(opened?.bytes as never))).to.equal('from before');
  });

  it('path() leads to the file of an object and of a variant', async () => {
    for (const name of ['b.jpg', 'b__1.webp']) {
      await write(name, createTestBytes(50));
      expect((await stat(driver.path?.(name) as string)).size).to.equal(50);
    }
  });

  it('variants lie in .groups, and their folder is removed with the last one', async () => {
    for (const name of ['b.jpg', 'b__1.webp', 'b__2.webp', 'c__1.webp']) await write(name, createTestBytes(50));
    expect(await visible()).to.deep.equal(['b.jpg']);
    const groups = () => readdir(join(root, '.groups')).then((names) => names.sort());
    await driver.remove('b__1.webp');
    expect(await groups()).to.deep.equal(['b', 'c']);
    await driver.remove('b__2.webp');
    expect(await groups()).to.deep.equal(['c']);
  });

  it('variants written while others are removed get their folder created again', async () => {
    const written: string[] = [];
    await Promise.all(
      Array.from({ length: 8 }, async (_, at) => {
        for (let round = 0; round < 25; round++) {
          const name = `busy__${at}-${round}`;
          await write(name, createTestBytes(3));
          written.push(name);
          if (round % 5 !== 4) await driver.remove(name);
        }
      }),
    );
    const left: string[] = [];
    for await (const { name } of driver.list('busy__')) left.push(name);
    expect(left.sort()).to.deep.equal(written.filter((name) => /-(?:4|9|14|19|24)$/.test(name)).sort());
  });

  it('a file being written lies in .partial until it is complete', async () => {
    const { source, reached, goOn } = createPausedByteSource(createTestBytes(1000));
    const writing = driver.write('d.bin', source);
    await reached;
    expect(await visible()).to.deep.equal([]);
    expect(await partials()).to.have.length(1);
    goOn();
    await writing;
    expect(await visible()).to.deep.equal(['d.bin']);
    expect(await partials()).to.deep.equal([]);
  });

  it('remove() deletes partial files of this object only', async () => {
    const partial = (name: string) => writeFile(join(root, '.partial', name), 'half');
    const random = '0123456789abcdef';
    for (const name of ['e.bin', 'e.bin.more', 'e', 'f.bin']) await partial(`${name}.${random}`);
    await driver.remove('e.bin');
    expect((await partials()).sort()).to.deep.equal([`e.${random}`, `e.bin.more.${random}`, `f.bin.${random}`]);
  });

  it('partial files older than a day are deleted at the start, younger ones stay', async () => {
    const [old, young] = ['g.bin.0123456789abcdef', 'h.bin.0123456789abcdef'];
    for (const name of [old, young]) await writeFile(join(root, '.partial', name), 'half');
    const longAgo = new Date(Date.now() - 25 * 60 * 60 * 1000);
    await utimes(join(root, '.partial', old), longAgo, longAgo);
    await open();
    expect(await partials()).to.deep.equal([young]);
  });

  it('a name too long for the file system leaves no file', async () => {
    const name = `${'x'.repeat(300)}.bin`;
    expect((await captureError(write(name, createTestBytes(10)))).message).to.contain('ENAMETOOLONG');
    expect(await partials()).to.deep.equal([]);
    expect(await visible()).to.deep.equal([]);
  });

  it('a write that cannot be moved into place leaves no file', async () => {
    await mkdir(join(root, 'taken.bin'));
    expect((await captureError(write('taken.bin', createTestBytes(10)))).message).to.match(/EISDIR|EEXIST|ENOTEMPTY/);
    expect(await partials()).to.deep.equal([]);
    expect(await driver.open('taken.bin')).to.equal(undefined);
    expect(await driver.stat('taken.bin')).to.equal(undefined);
  });

  it('a write fails if the root folder is gone, and does not create it', async () => {
    await rm(root, { recursive: true });
    expect((await captureError(write('i.bin', createTestBytes(10)))).message).to.contain('ENOENT');
    expect((await captureError(stat(root))).message).to.contain('ENOENT');
  });

  it('remove() fails if the root folder is gone, so that the ledger keeps the object', async () => {
    await write('kept.bin', createTestBytes(10));
    await rename(root, `${root}-away`);
    for (const name of ['kept.bin', 'kept__made.bin'])
      expect((await captureError(driver.remove(name))).message, name).to.contain('ENOENT');
    await mkdir(root);
    expect((await captureError(driver.remove('kept.bin'))).message, 'an empty folder').to.contain('ENOENT');
    await rm(root, { recursive: true });
    await rename(`${root}-away`, root);
    await driver.remove('kept.bin');
    expect(await driver.stat('kept.bin')).to.equal(undefined);
  });

  it('a write to a full disk fails with ENOSPC and leaves no file', async function () {
    // Mounts a file system of one megabyte in the mount namespace of a child process.
    const module = (path: string) => new URL(`../../../${path}`, import.meta.url).href;
    const script = `
      const { openLocalStorageDriver } = await import('${module('plugins/storage-local/driver.ts')}');
      const { prepareStorageRootFolder } = await import('${module('plugins/storage-local/root.ts')}');
      const { readdirSync } = await import('node:fs');
      const driver = openLocalStorageDriver(await prepareStorageRootFolder({ location: 'local', setting: () => process.argv[1] }, ''));
      const parts = async function* (count) { for (let at = 0; at < count; at++) yield Buffer.alloc(100_000); };
      const results = [];
      for (const [name, count] of [['full.bin', 30], ['one.bin', 30], ['one.bin', 5], ['two__full.bin', 30], ['two.bin', 3]])
        results.push(await driver.write(name, parts(count)).catch((error) => error.code));
      console.log(JSON.stringify({ results, left: readdirSync(process.argv[1], { recursive: true }).sort() }));`;
    const mounted = [
      '-rm',
      'sh',
      '-c',
      'mount -t tmpfs -o size=1m none "$1" && exec "$2" --input-type=module -e "$3" "$1"',
    ];
    const { status, stdout } = spawnSync('unshare', [...mounted, 'sh', root, process.execPath, script]);
    if (status !== 0) return this.skip();
    expect(JSON.parse(String(stdout))).to.deep.equal({
      results: ['ENOSPC', 'ENOSPC', 500_000, 'ENOSPC', 300_000],
      left: ['.groups', '.partial', 'one.bin', 'two.bin'],
    });
  });

  it('reads end with the file, and lists have no folders and dangling links', async () => {
    await mkdir(join(root, 'folder.bin'));
    await write('k.bin', createTestBytes(10));
    await symlink(join(root, 'nowhere'), join(root, 'dangling.bin'));
    const names: string[] = [];
    for await (const { name } of driver.list('')) names.push(name);
    expect(names).to.deep.equal(['k.bin']);
    const opened = await driver.open('k.bin', { start: 4, end: 100 });
    expect((await readAllBytes(opened?.bytes as never)).length).to.equal(6);
  });

  it('a file that gets shorter while it is read fails its reader', async () => {
    await write('l.bin', createTestBytes(1_000_000));
    const opened = await driver.open('l.bin');
    await truncate(join(root, 'l.bin'), 300_000);
    expect((await captureError(readAllBytes(opened?.bytes as never))).message).to.contain('shorter');
  });

  it('a removed file is still read to its end by an open reader', async () => {
    await write('m.bin', createTestBytes(1_000_000));
    const opened = await driver.open('m.bin');
    await driver.remove('m.bin');
    expect(sha256(await readAllBytes(opened?.bytes as never))).to.equal(sha256(createTestBytes(1_000_000)));
  });

  it('every way to end a reader closes its file', async function () {
    const handles = () =>
      readdir('/proc/self/fd').then(
        (all) => all.length,
        () => undefined,
      );
    const before = await handles();
    if (before === undefined) return this.skip();
    await write('n.bin', createTestBytes(2_000_000));
    await write('empty.bin', createTestBytes(0));
    await Promise.all(
      Array.from({ length: 200 }, async (_, at) => {
        const opened = await driver.open(at % 5 === 4 ? 'empty.bin' : 'n.bin');
        const stream = opened?.bytes as NonNullable<typeof opened>['bytes'];
        const closed = new Promise((resolve) => stream.once('close', resolve));
        stream.on('error', () => {});
        if (at % 5 === 0) stream.resume();
        else if (at % 5 === 1) stream.destroy();
        else if (at % 5 === 2) {
          stream.read(0);
          stream.destroy(new Error('in the middle'));
        } else for await (const _part of stream) break;
        await closed;
      }),
    );
    for (let at = 0; at < 50; at++) {
      const { source, fail } = createPausedByteSource(createTestBytes(5));
      fail(new Error('no'));
      await captureError(driver.write(`o${at}`, source));
    }
    expect(await driver.open(randomUUID())).to.equal(undefined);
    expect(await handles()).to.be.at.most(before);
  });
});

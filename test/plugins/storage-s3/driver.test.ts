import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readlink, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { StorageDriver } from '../../../plugins/storage/contract.ts';
import { sha256 } from '../../support/sha256.ts';
import { captureError } from '../../support/test-plugins.ts';
import { until } from '../../support/until.ts';
import { createPausedByteSource, createTestBytes, readAllBytes, yieldByteChunks } from '../storage/bytes.ts';
import { startS3Relay } from './fault-injecting-s3-proxy.ts';
import { type S3PartPlan, type S3Server, type S3Settings, startS3Server } from './s3-server.ts';

const MIB = 2 ** 20;
const newName = () => `${randomUUID()}.bin`;

describe('storage-s3: driver', function () {
  this.timeout(120_000);
  let server: S3Server;
  let driver: StorageDriver;
  const opened: StorageDriver[] = [];
  const open = (settings: Partial<S3Settings> = {}, plan?: S3PartPlan) => {
    const one = server.open(settings, plan);
    opened.push(one);
    return one;
  };
  before(async () => {
    server = await startS3Server();
    driver = open();
  });
  afterEach(async () => {
    for (const one of opened.splice(0)) if (one !== driver) await one.close?.();
  });
  after(async () => {
    await driver?.close?.();
    await server?.stop();
  });

  const write = (name: string, data: Uint8Array, to = driver) => to.write(name, yieldByteChunks(data));
  const hashAt = async (name: string, from = driver) => {
    const object = await from.open(name);
    return object && sha256(await readAllBytes(object.bytes));
  };
  const namesIn = async (from: StorageDriver, prefix = '') => {
    const names: string[] = [];
    for await (const { name } of from.list(prefix)) names.push(name);
    return names.sort();
  };
  const place = (name: string) => ({ Bucket: server.settings.bucket, Key: server.settings.root + name });
  const unfinished = async (name: string) => {
    const { Bucket, Key } = place(name);
    const { Uploads = [] } = await server.s3.listMultipartUploads({ Bucket, Prefix: Key });
    return Uploads.length;
  };

  describe('objects', () => {
    it('an object of several parts is read as it was written', async () => {
      const name = newName();
      const data = createTestBytes(29 * MIB + 3, 1);
      expect(await write(name, data)).to.equal(data.length);
      expect(await hashAt(name)).to.equal(sha256(data));
      expect((await server.s3.headObject(place(name))).ETag, 'made of four parts').to.match(/-4"$/);
      expect(await unfinished(name)).to.equal(0);
      const borders = await driver.open(name, { start: 8 * MIB - 2, end: 16 * MIB + 1 });
      expect(sha256(await readAllBytes(borders?.bytes as never))).to.equal(
        sha256(data.subarray(8 * MIB - 2, 16 * MIB + 2)),
      );
    });

    it('an object of exactly one or two parts is read as it was written', async () => {
      for (const size of [8 * MIB, 16 * MIB]) {
        const name = newName();
        const data = createTestBytes(size, 2);
        await write(name, data);
        expect(await hashAt(name)).to.equal(sha256(data));
      }
    });

    it('an object keeps its Content-Type', async () => {
      for (const size of [10, 9 * MIB]) {
        const name = newName();
        await driver.write(name, yieldByteChunks(createTestBytes(size)), { type: 'image/avif' });
        expect((await server.s3.headObject(place(name))).ContentType).to.equal('image/avif');
      }
    });

    it('the driver has no path()', () => expect(driver.path).to.equal(undefined));

    it('writing and reading 160 MiB needs flat process memory', async () => {
      const [chunk, name] = [createTestBytes(MIB, 3), newName()];
      const count = 160;
      let most = 0;
      let from = 0;
      async function* source() {
        for (let at = 0; at < count; at++) {
          // Measures from 32 MiB on, when the buffers that every write needs are allocated.
          if (at === 32) from = process.memoryUsage.rss();
          if (at > 32) most = Math.max(most, process.memoryUsage.rss() - from);
          yield Buffer.from(chunk);
        }
      }
      expect(await driver.write(name, source())).to.equal(count * MIB);
      let got = 0;
      for await (const part of (await driver.open(name))?.bytes ?? []) {
        got += part.length;
        most = Math.max(most, process.memoryUsage.rss() - from);
      }
      expect(got).to.equal(count * MIB);
      expect(most / MIB, 'MiB more than at first').to.be.below(80);
      await driver.remove(name);
    });
  });

  describe('larger parts', () => {
    const plan: S3PartPlan = [
      { upTo: 2, size: 5 * MIB, kept: 'memory' },
      { upTo: 3, size: 6 * MIB, kept: 'disk' },
      { upTo: 4, size: 7 * MIB, kept: 'disk' },
    ];
    let folder: string;
    let usual: string | undefined;
    before(async () => {
      usual = process.env.TMPDIR;
      folder = await mkdtemp(join(tmpdir(), 'tenon-parts-of-a-test-'));
      process.env.TMPDIR = folder;
    });
    after(async () => {
      if (usual === undefined) delete process.env.TMPDIR;
      else process.env.TMPDIR = usual;
      await rm(folder, { recursive: true, force: true });
    });

    // Asserts that no temporary file stays open, on systems with /proc.
    afterEach(async () => {
      if (existsSync('/proc/self/fd')) await until(async () => (await openFiles()).length === 0);
    });

    async function openFiles(): Promise<readonly string[]> {
      const all = await Promise.all(
        (await readdir('/proc/self/fd')).map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => '')),
      );
      return all.filter((path) => path.startsWith(folder));
    }

    it('large parts wait in temporary files, which are deleted afterwards', async () => {
      const name = newName();
      const data = createTestBytes(18 * MIB + 7, 4);
      await write(name, data, open({}, plan));
      expect(await hashAt(name)).to.equal(sha256(data));
      expect((await server.s3.headObject(place(name))).ETag, 'made of four parts').to.match(/-4"$/);
      expect(await readdir(folder)).to.deep.equal([]);
    });

    it('a failing source leaves no temporary files', async () => {
      const name = newName();
      const { source, reached, fail } = createPausedByteSource(createTestBytes(17 * MIB, 5));
      const failed = captureError(open({}, plan).write(name, source));
      await reached;
      expect(await readdir(folder), 'in files meanwhile').not.to.deep.equal([]);
      fail(new Error('the line is dead'));
      expect((await failed).message).to.equal('the line is dead');
      expect(await readdir(folder)).to.deep.equal([]);
      expect(await unfinished(name)).to.equal(0);
    });

    it('a temporary file deleted by hand fails the write before its timeout', async () => {
      const name = newName();
      const { source, reached, goOn } = createPausedByteSource(createTestBytes(17 * MIB, 5));
      const failed = captureError(open({}, plan).write(name, source));
      await reached;
      for (const file of await readdir(folder)) await rm(join(folder, file));
      goOn(createTestBytes(5 * MIB, 7));
      expect((await failed).message).to.include(name);
      expect(await unfinished(name)).to.equal(0);
    });

    it('a part from a temporary file is sent again after a 503', async () => {
      const relay = await startS3Relay(server.settings.endpoint as string);
      try {
        let failures = 0;
        relay.decide((line) => (line.includes('partNumber=3') && failures++ < 2 ? { status: 503 } : 'pass'));
        const name = newName();
        const data = createTestBytes(17 * MIB, 6);
        await write(name, data, open({ endpoint: relay.url }, plan));
        expect(failures).to.be.above(2);
        expect(await hashAt(name)).to.equal(sha256(data));
        expect(await readdir(folder)).to.deep.equal([]);
      } finally {
        await relay.close();
      }
    });

    it('an object larger than a bucket can keep is rejected and leaves nothing', async () => {
      const name = newName();
      const error = await captureError(write(name, createTestBytes(24 * MIB, 7), open({}, plan)));
      expect(error.message).to.equal('the object is larger than a bucket can keep');
      expect(await driver.stat(name)).to.equal(undefined);
      expect(await unfinished(name)).to.equal(0);
      expect(await readdir(folder)).to.deep.equal([]);
    });
  });

  describe('a write that fails', () => {
    it('a failed write leaves no object and no unfinished upload', async () => {
      const name = newName();
      const { source, reached, fail } = createPausedByteSource(createTestBytes(20 * MIB, 8));
      const failed = captureError(driver.write(name, source));
      await reached;
      expect(await unfinished(name), 'while it is written').to.equal(1);
      fail(new Error('the line is dead'));
      expect((await failed).message).to.equal('the line is dead');
      expect(await driver.stat(name)).to.equal(undefined);
      expect(await unfinished(name)).to.equal(0);
    });
  });

  describe('remove()', () => {
    it('remove() aborts unfinished uploads of exactly this object', async () => {
      const name = randomUUID();
      const others = [`${name}.jpg`, `${name}-1`, `${name}__x`];
      for (const one of [name, name, name, ...others]) await server.s3.createMultipartUpload(place(one));
      await write(name, createTestBytes(100));
      await driver.remove(name);
      expect(await unfinished(name)).to.equal(others.length);
      expect(await driver.stat(name)).to.equal(undefined);
      for (const one of others) await driver.remove(one);
      expect(await unfinished(name)).to.equal(0);
    });
  });

  describe('setting ROOT', () => {
    it('ROOT separates locations in one bucket', async () => {
      const base = `${server.settings.root}${randomUUID()}/`;
      const [outer, one, other] = [base, `${base}one/`, `${base}other/`].map((root) => open({ root })) as [
        StorageDriver,
        StorageDriver,
        StorageDriver,
      ];
      await write('a.txt', createTestBytes(10), outer);
      await write('a.txt', createTestBytes(20), one);
      await write('b.txt', createTestBytes(30), other);
      expect([await namesIn(outer), await namesIn(one), await namesIn(other)]).to.deep.equal([
        ['a.txt'],
        ['a.txt'],
        ['b.txt'],
      ]);
      expect(await one.open('b.txt')).to.equal(undefined);
      expect((await one.stat('a.txt'))?.size).to.equal(20);
      await one.remove('a.txt');
      expect((await outer.stat('a.txt'))?.size).to.equal(10);
      await outer.remove('a.txt');
      await other.remove('b.txt');
    });
  });

  describe('credentials', () => {
    it('a wrong secret fails with SignatureDoesNotMatch', async () => {
      const credentials = { accessKeyId: server.settings.credentials?.accessKeyId as string, secretAccessKey: 'wrong' };
      const wrongSecret = open({ credentials });
      const name = newName();
      await write(name, createTestBytes(10));
      const bucket = server.settings.bucket;
      const mismatch = /SignatureDoesNotMatch: .*signature/;
      const attempts = [
        () => write(newName(), createTestBytes(10), wrongSecret),
        () => wrongSecret.open(name),
        () => wrongSecret.remove(name),
      ];
      for (const attempt of attempts) {
        const { message } = await captureError(attempt());
        expect(message).to.match(mismatch).and.to.include(`in the bucket ${bucket}`);
        expect(message).not.to.include('wrong');
      }
      // A response to HEAD has no body with an error code.
      expect((await captureError(wrongSecret.stat(name))).message).to.equal(
        `looking at ${name} in the bucket ${bucket}: the server answers 403`,
      );
      expect((await captureError(namesIn(wrongSecret))).message).to.match(mismatch);
      expect((await driver.stat(name))?.size, 'still there').to.equal(10);
    });

    it('credentials may come from the variables of the SDK', async () => {
      const { accessKeyId, secretAccessKey } = server.settings.credentials as NonNullable<S3Settings['credentials']>;
      Object.assign(process.env, { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey });
      try {
        const name = newName();
        await write(name, createTestBytes(10), open({ credentials: undefined }));
        expect((await driver.stat(name))?.size).to.equal(10);
      } finally {
        delete process.env.AWS_ACCESS_KEY_ID;
        delete process.env.AWS_SECRET_ACCESS_KEY;
      }
    });
  });

  describe('failures', () => {
    it('a missing bucket or an unreachable server is an error, not a missing object', async () => {
      const missingBucket = open({ bucket: 'not-there-at-all' });
      expect((await captureError(missingBucket.open('a'))).message).to.match(
        /^reading a in the bucket not-there-at-all: NoSuchBucket: /,
      );
      const gone = open({ endpoint: 'http://127.0.0.1:1' });
      const attempts = [
        () => gone.open('a'),
        () => gone.stat('a'),
        () => gone.remove('a'),
        () => write('a', createTestBytes(1), gone),
      ];
      for (const attempt of attempts) {
        expect((await captureError(attempt())).message).to.match(/ECONNREFUSED/);
      }
    });

    it('a closed driver rejects requests', async () => {
      const one = open();
      await one.stat('a');
      await one.close?.();
      expect((await captureError(one.stat('a'))).message).to.equal('the connection to the bucket is closed');
    });
  });
});

import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { expect } from 'chai';
import type { ByteRange, OpenedStorageObject, StorageDriver } from '../../../plugins/storage/contract.ts';
import { createForcedGarbageCollector } from '../../support/garbage-collector.ts';
import { sha256 } from '../../support/sha256.ts';
import { captureError } from '../../support/test-plugins.ts';
import { createPausedByteSource, createTestBytes, readAllBytes, toByteStream, yieldByteChunks } from './bytes.ts';

const MIB = 1024 * 1024;

/**
 * Declares the tests that every storage driver has to pass. Call it in a `describe` of the driver. `open` is called once, and the
 * tests close the driver. Its storage may hold other objects. `many` is a number of objects above one page of a list.
 */
export function describeStorageDriverConformance(open: () => Promise<StorageDriver>, { many = 1050 } = {}): void {
  let driver: StorageDriver;
  before(async () => {
    driver = await open();
  });
  after(async () => {
    await driver?.close?.();
  });

  const newName = (extension = '.bin') => `${randomUUID()}${extension}`;
  const write = (name: string, data: Uint8Array) =>
    driver.write(name, yieldByteChunks(data), { type: 'application/x-test' });
  const readBack = async (name: string, range?: ByteRange) => {
    const opened = await driver.open(name, range);
    return opened && { size: opened.size, data: await readAllBytes(opened.bytes) };
  };
  const namesOf = async (prefix: string) => {
    const names: string[] = [];
    for await (const object of driver.list(prefix)) names.push(object.name);
    return names.sort();
  };
  const expectNothing = async (name: string) => {
    expect(await driver.open(name), 'open').to.equal(undefined);
    expect(await driver.stat(name), 'stat').to.equal(undefined);
    expect(await namesOf(name), 'list').to.deep.equal([]);
  };

  describe('bytes of an object', () => {
    for (const size of [0, 1, 65_535, 65_536, 65_537, 262_144, MIB + 1, 5 * MIB, 5 * MIB + 12_345, 11 * MIB + 7]) {
      it(`${size.toLocaleString('en')} bytes are read as they were written`, async () => {
        const name = newName();
        const data = createTestBytes(size);
        expect(await write(name, data), 'bytes written').to.equal(size);
        const back = await readBack(name);
        expect(back?.size, 'size of the object').to.equal(size);
        expect(back?.data.length, 'bytes read').to.equal(size);
        expect(sha256(back?.data as Buffer)).to.equal(sha256(data));
        expect((await driver.stat(name))?.size, 'size by stat').to.equal(size);
      });
    }

    it('a source may yield chunks of any size, empty ones and views included', async () => {
      const name = newName();
      const large = createTestBytes(3 * MIB + 5, 2);
      const parts = [
        ...Array.from({ length: 300 }, (_, at) => new Uint8Array([at & 255])),
        new Uint8Array(0),
        new Uint8Array(large.buffer, large.byteOffset + 3, 2 * MIB + 1),
        Buffer.alloc(0),
        large.subarray(1000, 1001),
        large,
      ];
      const whole = Buffer.concat(parts);
      expect(await driver.write(name, Readable.from(parts))).to.equal(whole.length);
      expect(sha256((await readBack(name))?.data as Buffer)).to.equal(sha256(whole));
    });

    it('writing and reading a large object needs flat memory', async function () {
      this.timeout(120_000);
      const name = newName();
      const [step, count] = [4 * MIB, 20];
      const part = createTestBytes(step, 4);
      const collect = createForcedGarbageCollector();
      const inUse = () => {
        // Collects twice, since the second collection frees what the first only finds.
        collect();
        collect();
        const { arrayBuffers, heapUsed } = process.memoryUsage();
        return arrayBuffers + heapUsed;
      };
      const before = inUse();
      let most = 0;
      async function* source() {
        for (let at = 0; at < count; at++) {
          // Copies each chunk, so that chunks which the driver keeps show in the measurement.
          yield* yieldByteChunks(Buffer.from(part));
          // Measures at every eighth chunk and the last one, since a measurement takes longer than a write.
          if (at % 8 === 3) most = Math.max(most, inUse() - before);
        }
      }
      expect(await driver.write(name, source())).to.equal(step * count);
      let [got, checkedAt] = [0, 0];
      const opened = (await driver.open(name)) as OpenedStorageObject;
      for await (const chunk of opened.bytes) {
        got += chunk.length;
        if (got - checkedAt < 8 * step && got < step * count) continue;
        checkedAt = got;
        most = Math.max(most, inUse() - before);
      }
      expect(got).to.equal(step * count);
      await driver.remove(name);
      expect(most / MIB, 'MiB in use above what there was').to.be.below(48);
    });
  });

  describe('ranges of an object', () => {
    const size = 5 * MIB + 777;
    const data = createTestBytes(size, 5);
    const name = newName();
    before(() => write(name, data));

    const chunk = 256 * 1024;
    const ranges: readonly [what: string, start: number, end: number][] = [
      ['the first byte', 0, 0],
      ['the last byte', size - 1, size - 1],
      ['all of it', 0, size - 1],
      ['one in the middle', 1_234_567, 1_234_567],
      ['a part in the middle', 1_000_001, 1_999_999],
      ['from the first on', 0, 99_999],
      ['up to the last', size - 100_000, size - 1],
      ['across a border of 64 KiB', 65_535, 65_536],
      ['across borders of 256 KiB', chunk - 1, 2 * chunk],
      ['exactly from border to border', chunk, 2 * chunk - 1],
      ['the byte before a border', chunk - 1, chunk - 1],
      ['the byte after a border', chunk, chunk],
      ['across a border of 5 MiB', 5 * MIB - 1, 5 * MIB + 1],
    ];
    for (const [what, start, end] of ranges) {
      it(`a range reads ${what}`, async () => {
        const back = await readBack(name, { start, end });
        expect(back?.size, 'size of the whole').to.equal(size);
        expect(back?.data.length).to.equal(end - start + 1);
        expect(sha256(back?.data as Buffer)).to.equal(sha256(data.subarray(start, end + 1)));
      });
    }

    it('consecutive ranges together are the whole object', async () => {
      const parts: Buffer[] = [];
      for (let start = 0; start < size; start += 777_777) {
        const end = Math.min(start + 777_776, size - 1);
        parts.push((await readBack(name, { start, end }))?.data as Buffer);
      }
      expect(sha256(Buffer.concat(parts))).to.equal(sha256(data));
    });

    it('a range of a missing object is undefined', async () => {
      expect(await driver.open(newName(), { start: 0, end: 0 })).to.equal(undefined);
    });
  });

  describe('a missing object', () => {
    it('open, stat and list do not find a missing object', () => expectNothing(newName()));

    it('remove() of a missing object succeeds', async () => {
      const name = newName();
      await driver.remove(name);
      await driver.remove(name);
    });
  });

  describe('a removed object', () => {
    it('a removed object is gone, and objects with similar names stay', async () => {
      const name = newName('');
      const others = [`${name}.a`, `${name}-1`, `${name}__x.webp`, `${name}_`];
      for (const one of [name, ...others]) await write(one, createTestBytes(10));
      await driver.remove(name);
      expect(await driver.open(name)).to.equal(undefined);
      expect(await driver.stat(name)).to.equal(undefined);
      expect(await namesOf(name)).to.deep.equal([...others].sort());
      for (const one of others) await driver.remove(one);
      expect(await namesOf(name)).to.deep.equal([]);
    });

    it('remove() does not disturb the write of an object whose name starts alike', async () => {
      const name = newName('');
      const { source, reached, goOn } = createPausedByteSource(createTestBytes(100_000));
      const writing = driver.write(`${name}.jpg`, source);
      await reached;
      await driver.remove(name);
      goOn();
      expect(await writing).to.equal(100_000);
      expect((await readBack(`${name}.jpg`))?.size).to.equal(100_000);
    });
  });

  describe('a write that is not complete', () => {
    it('an incomplete object cannot be opened or listed', async () => {
      const name = newName();
      const data = createTestBytes(6 * MIB, 6);
      const { source, reached, goOn } = createPausedByteSource(data);
      const writing = driver.write(name, source);
      await reached;
      await expectNothing(name);
      goOn(createTestBytes(3));
      expect(await writing).to.equal(data.length + 3);
      expect((await readBack(name))?.size).to.equal(data.length + 3);
    });

    for (const size of [0, 1000, 6 * MIB]) {
      it(`a source that fails after ${size.toLocaleString('en')} bytes leaves no object`, async () => {
        const name = newName();
        const { source, reached, fail } = createPausedByteSource(createTestBytes(size));
        const writing = captureError(driver.write(name, source));
        await reached;
        fail(new Error('the line is dead'));
        expect((await writing).message).to.equal('the line is dead');
        await expectNothing(name);
        // The name can be written again after the failed write.
        await write(name, createTestBytes(10));
        expect((await readBack(name))?.size).to.equal(10);
      });
    }

    it('a destroyed source stream leaves no object', async () => {
      for (const error of [undefined, new Error('cut')]) {
        const name = newName();
        const source = new Readable({ read() {} });
        source.push(createTestBytes(100_000));
        const writing = captureError(driver.write(name, source));
        source.on('error', () => {});
        source.once('resume', () => setImmediate(() => source.destroy(error)));
        setImmediate(() => source.destroy(error));
        expect(await writing).to.be.an('error');
        await expectNothing(name);
      }
    });

    it('remove() after a failed write leaves nothing', async () => {
      const name = newName();
      const { source, reached, fail } = createPausedByteSource(createTestBytes(6 * MIB));
      const writing = captureError(driver.write(name, source));
      await reached;
      fail(new Error('gone'));
      await writing;
      await driver.remove(name);
      await expectNothing(name);
    });
  });

  describe('a name that is written again', () => {
    it('a second write of a name is rejected or replaces the object as a whole', async () => {
      const name = newName();
      const [first, second] = [createTestBytes(2 * MIB, 7), createTestBytes(3 * MIB, 8)];
      await write(name, first);
      const { source, reached, goOn } = createPausedByteSource(second);
      const again = driver.write(name, source).then(
        () => true,
        () => false,
      );
      const isHeld = await Promise.race([reached.then(() => true), again]);
      if (isHeld) {
        expect(sha256((await readBack(name))?.data as Buffer), 'while it is written').to.equal(sha256(first));
        goOn();
      }
      const left = (await again) ? second : first;
      expect(sha256((await readBack(name))?.data as Buffer), 'in the end').to.equal(sha256(left));
      expect(await namesOf(name)).to.deep.equal([name]);
    });

    it('concurrent writes of a name end with all bytes of one of them', async () => {
      const name = newName();
      const all = [11, 12, 13].map((seed) => createTestBytes(MIB + seed, seed));
      const written = await Promise.allSettled(all.map((data) => write(name, data)));
      expect(written.some(({ status }) => status === 'fulfilled')).to.equal(true);
      const back = await readBack(name);
      expect(all.map(sha256)).to.include(sha256(back?.data as Buffer));
      expect(back?.size).to.equal(back?.data.length);
    });
  });

  describe('concurrent use', () => {
    it('concurrent writes and reads of many objects are not mixed up', async () => {
      const all = Array.from({ length: 24 }, (_, at) => ({
        name: newName(),
        data: createTestBytes(200_000 + at * 31_111, at + 20),
      }));
      await Promise.all(
        all.map(({ name, data }) => driver.write(name, toByteStream(data, 10_000 + (data.length % 7)))),
      );
      const back = await Promise.all(all.map(({ name }) => readBack(name)));
      expect(back.map((one) => sha256(one?.data as Buffer))).to.deep.equal(all.map(({ data }) => sha256(data)));
    });

    it('concurrent readers of one object each get their range', async () => {
      const name = newName();
      const data = createTestBytes(2 * MIB, 9);
      await write(name, data);
      const back = await Promise.all(
        Array.from({ length: 20 }, (_, at) => readBack(name, { start: at * 1000, end: data.length - 1 })),
      );
      back.forEach((one, at) => void expect(sha256(one?.data as Buffer)).to.equal(sha256(data.subarray(at * 1000))));
    });
  });

  describe('readers', () => {
    it('abandoned readers release their resources', async function () {
      this.timeout(120_000);
      const name = newName();
      const data = createTestBytes(5 * MIB, 10);
      await write(name, data);
      for (let round = 0; round < 6; round++) {
        await Promise.all(
          Array.from({ length: 20 }, async (_, at) => {
            const opened = await driver.open(name);
            if (!opened) throw new Error('it is not there');
            const closed = new Promise<void>((resolve) => void opened.bytes.once('close', resolve));
            // Half of the readers are closed after the first chunk, half before the first byte.
            if (at % 2 === 0) for await (const _part of opened.bytes) break;
            else opened.bytes.on('error', () => {}).destroy();
            await closed;
          }),
        );
      }
      expect(sha256((await readBack(name))?.data as Buffer)).to.equal(sha256(data));
      await driver.remove(name);
      await expectNothing(name);
    });
  });

  describe('stat', () => {
    it('stat() answers name, size and modification time', async () => {
      const name = newName('.jpeg');
      const start = Date.now();
      await write(name, createTestBytes(4321));
      const about = await driver.stat(name);
      expect(about?.name).to.equal(name);
      expect(about?.size).to.equal(4321);
      expect(about?.modified).to.be.an.instanceOf(Date);
      // The clock of a storage server may differ a little.
      expect(Math.abs((about?.modified.getTime() as number) - start)).to.be.below(120_000);
    });
  });

  describe('list()', () => {
    it('list() takes its prefix literally', async () => {
      const base = randomUUID();
      const names = [
        `${base}.png`,
        `${base}-0a.png`,
        `${base}__11.webp`,
        `${base}__22.webp`,
        `${base}-0a__11.webp`,
        `${base}_x.png`,
        `${base}.x.png`,
        `${base}X.png`,
      ];
      for (const name of names) await write(name, createTestBytes(name.length));
      const beginning = (prefix: string) => names.filter((name) => name.startsWith(prefix)).sort();
      const prefixes = ['', '.', '-', '_', '__', '__1', '__11.webp', '-0a', '-0a__', '_x', 'X', 'x', '__3', '_X'];
      for (const prefix of prefixes) {
        expect(await namesOf(base + prefix), prefix).to.deep.equal(beginning(base + prefix));
      }
      const sizes: Record<string, number> = {};
      for await (const { name, size, modified } of driver.list(base)) {
        sizes[name] = size;
        expect(modified).to.be.an.instanceOf(Date);
      }
      expect(sizes).to.deep.equal(Object.fromEntries(names.map((name) => [name, name.length])));
    });

    it(`list() yields ${many} names and may be left early`, async function () {
      this.timeout(120_000);
      const prefix = `many-${randomUUID()}-`;
      const names = Array.from({ length: many }, (_, at) => `${prefix}${String(at).padStart(4, '0')}`);
      const all = [...names];
      const one = createTestBytes(1);
      const writers = Array.from({ length: 16 }, async () => {
        for (let name = all.pop(); name; name = all.pop()) await write(name, one);
      });
      await Promise.all(writers);
      expect(await namesOf(prefix)).to.deep.equal(names);
      for await (const object of driver.list(prefix)) {
        expect(object.name.startsWith(prefix)).to.equal(true);
        break;
      }
      // Objects may be removed while a list yields them.
      for await (const { name } of driver.list(prefix)) await driver.remove(name);
      expect(await namesOf(prefix)).to.deep.equal([]);
    });
  });

  describe('names of objects', () => {
    it('names of 255 characters with all allowed characters work', async () => {
      const begin = randomUUID();
      const longest = `${begin}${'l'.repeat(251 - begin.length)}.bin`;
      const group = `${begin}__${'g'.repeat(251 - begin.length - 2)}.bin`;
      for (const name of [longest, group, `${begin}_A-b.c.D_0`, `_${begin}`, `${begin}__`]) {
        await write(name, createTestBytes(100));
        expect((await readBack(name))?.size, name).to.equal(100);
        expect(await namesOf(name), name).to.deep.equal([name]);
        const { source, fail } = createPausedByteSource(createTestBytes(10));
        fail(new Error('again'));
        await captureError(driver.write(`${name.slice(0, -1)}Z`, source));
        await driver.remove(name);
        await expectNothing(name);
      }
    });
  });
}

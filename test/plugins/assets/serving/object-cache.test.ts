import { Readable } from 'node:stream';
import { expect } from 'chai';
import { createStoredObjectCache } from '../../../../plugins/assets/serving/object-cache.ts';
import type { StorageService } from '../../../../plugins/storage/contract.ts';

/** A fake storage location whose objects all have this size, and which counts how often each is opened. */
function counting(size: number) {
  const opened: string[] = [];
  const open = async (name: string) => {
    opened.push(name);
    return { size, bytes: Readable.from([Buffer.alloc(size, name)]) };
  };
  const storage = { at: () => ({ open }) } as unknown as StorageService;
  const objects = createStoredObjectCache(storage);
  const ask = async (name: string) => {
    const whole = await objects.readWhole('local', name, async () => objects.open('local', name));
    if (whole && !whole.buffer) whole.bytes.destroy();
    return whole;
  };
  return { ask, opened };
}

describe('createStoredObjectCache', () => {
  it('an object is cached with its second request', async () => {
    const { ask, opened } = counting(1000);
    for (let time = 0; time < 5; time++)
      expect((await ask('a'))?.buffer?.equals(Buffer.alloc(1000, 'a'))).to.equal(true);
    expect(opened).to.deep.equal(['a', 'a']);
  });

  it('an object over 256 KiB is never cached', async () => {
    const { ask, opened } = counting(256 * 1024 + 1);
    for (let time = 0; time < 5; time++) expect((await ask('a'))?.buffer).to.equal(undefined);
    expect(opened).to.have.length(5);
  });

  it('the cache holds 16 MB and drops the least recently used objects', async () => {
    const { ask, opened } = counting(250_000);
    const names = Array.from({ length: 100 }, (_, at) => `object-${at}`);
    for (const name of names) for (let time = 0; time < 2; time++) await ask(name);
    const from = opened.length;
    for (const name of names.slice(-60)) await ask(name);
    expect(opened.slice(from)).to.deep.equal([]);
    await ask(names[0] as string);
    expect(opened.slice(from)).to.deep.equal([names[0]]);
  });

  it('the cache distinguishes objects of the same name by location', async () => {
    const objects = createStoredObjectCache({ at: () => ({}) } as unknown as StorageService);
    const bytes = (text: string) => async () => ({ size: text.length, bytes: Readable.from([Buffer.from(text)]) });
    for (let time = 0; time < 3; time++) {
      expect(String((await objects.readWhole('one', 'a', bytes('from one')))?.buffer)).to.equal('from one');
      expect(String((await objects.readWhole('two', 'a', bytes('from two')))?.buffer)).to.equal('from two');
    }
  });
});

import { expect } from 'chai';
import { createAnnouncedCache } from '../../../plugins/cluster/library.ts';

interface Reading {
  readonly key: string;
  answer(value: number, settled?: boolean): void;
  fail(error: Error): void;
}

/** An announced cache on a fake bus, whose reads stay pending until the test answers them. */
function openCache(max = 10) {
  const readings: Reading[] = [];
  const handlers = new Map<string, () => void>();
  let forgotten = 0;
  const cache = createAnnouncedCache<number>({
    bus: {
      subscribe: (channel, handle) => void handlers.set(channel, () => handle(null)),
      onLost: (handle) => void handlers.set('lost', handle),
      onReconnect: (handle) => void handlers.set('gap', handle),
    },
    channel: 'changed',
    max,
    read: (key) =>
      new Promise((resolve, reject) =>
        readings.push({ key, answer: (value, cacheable = true) => resolve({ value, cacheable }), fail: reject }),
      ),
    onForget: () => void forgotten++,
  });
  return {
    cache,
    readings,
    announce: () => handlers.get('changed')?.(),
    disconnect: () => handlers.get('lost')?.(),
    reconnect: () => handlers.get('gap')?.(),
    forgotten: () => forgotten,
    /** Lets the cache read and keep a value. */
    async keep(key: string, value: number) {
      const got = cache.get(key);
      readings.at(-1)?.answer(value);
      expect(await got).to.equal(value);
    },
  };
}

const soon = () => new Promise((resolve) => setImmediate(resolve));

describe('createAnnouncedCache()', () => {
  it('reads once for callers at the same time and for later ones, and answers the same promise', async () => {
    const { cache, readings } = openCache();
    const all = [cache.get('a'), cache.get('a')];
    await soon();
    readings[0]?.answer(1);
    expect(await Promise.all(all)).to.deep.equal([1, 1]);
    expect(await cache.get('a')).to.equal(1);
    expect(cache.get('a')).to.equal(cache.get('a'));
    expect(readings).to.have.length(1);
  });

  for (const how of ['announce', 'reconnect'] as const) {
    it(`reads again after ${how === 'announce' ? 'a message on its channel' : 'a lost connection'}`, async () => {
      const opened = openCache();
      await opened.keep('a', 1);
      opened[how]();
      await opened.keep('a', 2);
      expect(opened.readings).to.have.length(2);
      expect(opened.forgotten()).to.equal(1);
    });

    it(`does not keep a value whose reading began before ${how === 'announce' ? 'the message' : 'the gap'}`, async () => {
      const opened = openCache();
      const early = opened.cache.get('a');
      opened[how]();
      const late = opened.cache.get('a');
      await soon();
      opened.readings[1]?.answer(2);
      opened.readings[0]?.answer(1);
      expect([await early, await late]).to.deep.equal([1, 2]);
      expect(await opened.cache.get('a')).to.equal(2);
    });
  }

  it('keeps and shares no value while the connection is lost, and resumes when it is back', async () => {
    const opened = openCache();
    await opened.keep('a', 1);
    opened.disconnect();
    const lost = [opened.cache.get('a'), opened.cache.get('a')];
    opened.readings[1]?.answer(2);
    opened.readings[2]?.answer(3);
    expect(await Promise.all(lost)).to.deep.equal([2, 3]);
    const late = opened.cache.get('a');
    opened.reconnect();
    opened.readings[3]?.answer(4);
    expect(await late).to.equal(4);
    await opened.keep('a', 5);
    expect(await opened.cache.get('a')).to.equal(5);
  });

  it('does not keep a value whose read began before its key was forgotten, and keeps other keys', async () => {
    const opened = openCache();
    await opened.keep('b', 7);
    const early = opened.cache.get('a');
    opened.cache.forget('a');
    opened.readings[1]?.answer(1);
    expect(await early).to.equal(1);
    await opened.keep('a', 2);
    expect(await opened.cache.get('b')).to.equal(7);
    opened.cache.forget();
    await opened.keep('b', 8);
  });

  it('returns a value that is not cacheable to its own caller only', async () => {
    const { cache, readings } = openCache();
    const inside = cache.get('a');
    const outside = cache.get('a');
    await soon();
    readings[0]?.answer(1, false);
    await soon();
    readings[1]?.answer(2);
    expect([await inside, await outside]).to.deep.equal([1, 2]);
    expect(await cache.get('a')).to.equal(2);
  });

  it('does not keep a failed read, and lets callers that joined it read again', async () => {
    const { cache, readings } = openCache();
    const failing = cache.get('a').catch((error: Error) => error.message);
    const joined = cache.get('a');
    readings[0]?.fail(new Error('no'));
    expect(await failing).to.equal('no');
    await soon();
    readings[1]?.answer(2);
    expect(await joined).to.equal(2);
    expect(await cache.get('a')).to.equal(2);
  });

  it('drops the oldest key when it exceeds its maximum', async () => {
    const opened = openCache(2);
    for (const [at, key] of ['a', 'b', 'c'].entries()) await opened.keep(key, at);
    expect(await opened.cache.get('b')).to.equal(1);
    expect(await opened.cache.get('c')).to.equal(2);
    await opened.keep('a', 9);
    expect(opened.readings).to.have.length(4);
  });
});

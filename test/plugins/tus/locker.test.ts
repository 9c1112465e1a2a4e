import { expect } from 'chai';
import type { InterProcessBus } from '../../../plugins/cluster/contract.ts';
import { createLocker } from '../../../plugins/tus/locker.ts';
import { captureError } from '../../support/test-plugins.ts';

const never = new AbortController().signal;

/** A fake lock and bus that the lockers of several simulated processes share. */
function cluster() {
  const locked = new Set<string>();
  const handlers: ((payload: unknown) => void)[] = [];
  const bus: InterProcessBus = {
    publish: async (_channel, payload) => handlers.forEach((handle) => void handle(payload)),
    subscribe: (_channel, handle) => void handlers.push(handle),
    onReconnect: () => {},
    onLost: () => {},
    waitForConfirmation: async () => {},
  };
  const attempt = async <T>(name: string, work: () => Promise<T>) => {
    if (locked.has(name)) return undefined;
    locked.add(name);
    try {
      return { value: await work() };
    } finally {
      locked.delete(name);
    }
  };
  return { locked, process: (timeout?: number) => createLocker({ attempt }, bus, timeout) };
}

describe('createLocker, the lock of a tus upload', () => {
  it('each upload has a lock of its own, held until unlock', async () => {
    const { locked, process } = cluster();
    const locker = process();
    const [a, b] = [locker.newLock('a'), locker.newLock('b')];
    await a.lock(never, () => {});
    await b.lock(never, () => {});
    expect([...locked]).to.deep.equal(['tus a', 'tus b']);
    await a.unlock();
    expect([...locked]).to.deep.equal(['tus b']);
    await b.unlock();
  });

  it('requests of one process ask the holder to give way and get the lock in turn', async () => {
    const { locked, process } = cluster();
    const locker = process();
    const order: string[] = [];
    const work = async (name: string) => {
      const lock = locker.newLock('a');
      const { promise: releaseRequested, resolve } = Promise.withResolvers<void>();
      await lock.lock(never, resolve);
      order.push(`${name} in`);
      if (order.length < 7) await releaseRequested;
      order.push(`${name} out`);
      await lock.unlock();
    };
    await Promise.all(['1', '2', '3', '4'].map(work));
    for (let at = 0; at < order.length; at += 2) {
      expect(order[at + 1]).to.equal((order[at] as string).replace('in', 'out'));
    }
    expect(order).to.have.length(8);
    expect(locked.size).to.equal(0);
  });

  it('lock() fails with 423 if the holder does not give way or the client has left', async () => {
    const { process } = cluster();
    const locker = process(20);
    await locker.newLock('a').lock(never, () => {});
    expect(await captureError(locker.newLock('a').lock(never, () => {}))).to.include({ status: 423 });
    expect(await captureError(locker.newLock('a').lock(AbortSignal.abort(), () => {}))).to.include({ status: 423 });
  });

  it('lock() fails with 423 at once if another process holds it, and asks that one to give way', async () => {
    const { process } = cluster();
    const [one, two] = [process(), process()];
    const held = one.newLock('a');
    const { promise: releaseRequested, resolve } = Promise.withResolvers<void>();
    await held.lock(never, resolve);
    const refused = two.newLock('a');
    expect(await captureError(refused.lock(never, () => {}))).to.include({ status: 423 });
    await releaseRequested;
    await held.unlock();
    await refused.lock(never, () => {});
    await refused.unlock();
  });

  it('runExclusive() waits for another process and keeps the lock until its work is done', async () => {
    const { locked, process } = cluster();
    const [one, two] = [process(), process()];
    const held = one.newLock('a');
    const { promise: releaseRequested, resolve } = Promise.withResolvers<void>();
    await held.lock(never, resolve);
    let refused: Error | undefined;
    const finished = two.runExclusive('a', async () => {
      refused = await captureError(one.newLock('a').lock(never, () => {}));
    });
    await releaseRequested;
    await held.unlock();
    await finished;
    expect(refused).to.include({ status: 423 });
    expect(locked.size).to.equal(0);
  });

  it('runExclusive() fails with 423 if another process keeps the lock', async () => {
    const { process } = cluster();
    const [one, two] = [process(20), process(20)];
    await one.newLock('a').lock(never, () => {});
    let done = false;
    expect(await captureError(two.runExclusive('a', async () => void (done = true)))).to.include({ status: 423 });
    expect(done).to.equal(false);
  });

  it('a lock that could not be requested is free again', async () => {
    const broken = createLocker(
      {
        attempt: async () => {
          throw new Error('no connection');
        },
      },
      {
        publish: async () => {},
        subscribe: () => {},
        onReconnect: () => {},
        onLost: () => {},
        waitForConfirmation: async () => {},
      },
      20,
    );
    for (let time = 0; time < 2; time++) {
      expect((await captureError(broken.newLock('a').lock(never, () => {}))).message).to.equal('no connection');
    }
  });
});

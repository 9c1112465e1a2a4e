import { expect } from 'chai';
import type { SemaphoreOptions } from '../../../plugins/workers/contract.ts';
import { createKeyedSemaphores, createSemaphore } from '../../../plugins/workers/library.ts';
import { captureError } from '../../support/test-plugins.ts';

const soon = () => new Promise((resolve) => setImmediate(resolve));

/** Pieces of work by name, each pending until the test ends it. */
function work() {
  const started: string[] = [];
  const ends = new Map<string, (error?: Error) => void>();
  return {
    started,
    end: (name: string, error?: Error) => ends.get(name)?.(error),
    begin: (name: string) => () =>
      new Promise<string>((resolve, reject) => {
        started.push(name);
        ends.set(name, (error) => (error ? reject(error) : resolve(name)));
      }),
  };
}

const refusing = (options: Omit<SemaphoreOptions, 'refuse'>) =>
  createSemaphore({ ...options, refuse: (reason) => new Error(reason) });

describe('createSemaphore()', () => {
  it('runs up to its limit of holders, then waiters first in, first out, also after failed work', async () => {
    const semaphore = createSemaphore({ limit: 2 });
    const { started, begin, end } = work();
    const all = ['a', 'b', 'c', 'd'].map((name) => semaphore.run(begin(name)));
    const failure = captureError(all[0] as Promise<string>);
    expect([started, semaphore.held, semaphore.waiting]).to.deep.equal([['a', 'b'], 2, 2]);
    end('b');
    await soon();
    expect(started).to.deep.equal(['a', 'b', 'c']);
    end('a', new Error('failed'));
    await soon();
    expect(started).to.deep.equal(['a', 'b', 'c', 'd']);
    end('c');
    end('d');
    expect((await failure).message).to.equal('failed');
    expect(await Promise.all(all.slice(1))).to.deep.equal(['b', 'c', 'd']);
    expect([semaphore.held, semaphore.waiting]).to.deep.equal([0, 0]);
  });

  it('gives a released place to the first waiter, not to a new caller', async () => {
    const semaphore = createSemaphore({ limit: 1 });
    const release = await semaphore.acquire();
    const order: string[] = [];
    const first = semaphore.acquire().then((leave) => {
      order.push('first');
      leave();
    });
    release();
    const newcomer = semaphore.acquire().then((leave) => {
      order.push('newcomer');
      leave();
    });
    await Promise.all([first, newcomer]);
    expect(order).to.deep.equal(['first', 'newcomer']);
  });

  it('releases a place once, even when release is called again', async () => {
    const semaphore = createSemaphore({ limit: 2 });
    const [one] = await Promise.all([semaphore.acquire(), semaphore.acquire()]);
    one?.();
    one?.();
    expect(semaphore.held).to.equal(1);
  });

  it('refuses callers when its queue is full', async () => {
    const semaphore = refusing({ limit: 1, queue: 1 });
    const release = await semaphore.acquire();
    const waiting = semaphore.acquire();
    expect((await captureError(semaphore.acquire())).message).to.equal('full');
    release();
    (await waiting)();
    (await semaphore.acquire())();
  });

  it('refuses a waiter at its deadline and skips its place in the queue', async () => {
    const semaphore = refusing({ limit: 1, deadline: 20 });
    const release = await semaphore.acquire();
    expect((await captureError(semaphore.acquire())).message).to.equal('timeout');
    expect(semaphore.waiting).to.equal(0);
    release();
    expect(semaphore.held).to.equal(0);
  });

  it('rejects with the reason of an aborted signal, and keeps holders', async () => {
    const semaphore = refusing({ limit: 1 });
    const release = await semaphore.acquire();
    const leaving = new AbortController();
    const left = captureError(semaphore.acquire(leaving.signal));
    const last = semaphore.acquire();
    leaving.abort(new Error('gone'));
    expect((await left).message).to.equal('gone');
    expect((await captureError(semaphore.acquire(leaving.signal))).message).to.equal('gone');
    release();
    (await last)();
    const holding = new AbortController();
    await semaphore.acquire(holding.signal);
    holding.abort();
    expect(semaphore.held).to.equal(1);
  });

  it('refuses all waiters and new callers after close()', async () => {
    const semaphore = refusing({ limit: 1 });
    const release = await semaphore.acquire();
    const waiting = [1, 2].map(() => captureError(semaphore.acquire()));
    semaphore.close();
    expect((await Promise.all(waiting)).map(({ message }) => message)).to.deep.equal(['closed', 'closed']);
    expect((await captureError(semaphore.acquire())).message).to.equal('closed');
    release();
    expect(semaphore.held).to.equal(0);
  });

  it('throws an Error with a default message when no refuse option is set', async () => {
    const semaphore = createSemaphore({ limit: 1, queue: 0 });
    await semaphore.acquire();
    expect((await captureError(semaphore.acquire())).message).to.equal('The queue of the semaphore is full.');
  });
});

describe('createKeyedSemaphores()', () => {
  it('limits each key separately, and keeps no state of a key without holders', async () => {
    const semaphores = createKeyedSemaphores({ limit: 1 });
    const { started, begin, end } = work();
    const all = [
      semaphores.run('one', begin('a')),
      semaphores.run('one', begin('b')),
      semaphores.run('other', begin('x')),
    ];
    await soon();
    expect([started, semaphores.size]).to.deep.equal([['a', 'x'], 2]);
    end('a');
    end('x');
    await soon();
    expect([started, semaphores.size]).to.deep.equal([['a', 'x', 'b'], 1]);
    end('b');
    expect(await Promise.all(all)).to.deep.equal(['a', 'b', 'x']);
    expect(semaphores.size).to.equal(0);
  });

  it('keeps a key with a holder when a refused caller leaves', async () => {
    const semaphores = createKeyedSemaphores({ limit: 1, queue: 0 });
    const { begin, end } = work();
    const first = semaphores.run('one', begin('a'));
    await captureError(semaphores.run('one', begin('b')));
    await captureError(semaphores.run('one', begin('c')));
    end('a');
    expect(await first).to.equal('a');
    expect(semaphores.size).to.equal(0);
  });
});

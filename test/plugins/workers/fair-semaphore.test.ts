import { expect } from 'chai';
import type { FairSemaphoreOptions } from '../../../plugins/workers/contract.ts';
import { createFairSemaphore } from '../../../plugins/workers/library.ts';

const soon = () => new Promise((resolve) => setImmediate(resolve));

describe('createFairSemaphore()', () => {
  function place(options: Partial<FairSemaphoreOptions> = {}) {
    const semaphore = createFairSemaphore({
      limit: 2,
      limitOfKey: 1,
      queue: 4,
      queueOfKey: 3,
      deadline: 60_000,
      refuse: (reason) => new Error(reason),
      ...options,
    });
    const begun: string[] = [];
    const ends = new Map<string, () => void>();
    const outcomes = new Map<string, string>();
    return {
      semaphore,
      begun,
      outcomes,
      come(...names: string[]) {
        for (const name of names) {
          const work = () => {
            begun.push(name);
            return new Promise<void>((resolve) => ends.set(name, resolve));
          };
          const done = semaphore.run(name.slice(0, 1), work);
          done.then(
            () => outcomes.set(name, 'done'),
            (error: Error) => outcomes.set(name, error.message),
          );
        }
      },
      async end(name: string) {
        ends.get(name)?.();
        await soon();
      },
    };
  }

  it('leaves a place to other keys when one key has reached its limit', async () => {
    const { semaphore, begun, come } = place();
    come('a1', 'a2', 'b1');
    await soon();
    expect([begun, semaphore.held, semaphore.waiting]).to.deep.equal([['a1', 'b1'], 2, 1]);
  });

  it('lets keys take turns', async () => {
    const { begun, come, end } = place({ limit: 1, queue: 9 });
    come('a1', 'a2', 'a3', 'b1', 'b2', 'c1');
    await soon();
    for (const name of ['a1', 'a2', 'b1', 'c1', 'a3', 'b2']) {
      expect(begun.at(-1)).to.equal(name);
      await end(name);
    }
  });

  it('refuses a key whose queue is full, and drops the last waiter of the longest queue for a key with fewer', async () => {
    const { outcomes, come } = place({ limit: 1 });
    come('a1', 'a2', 'a3', 'a4', 'a5');
    await soon();
    expect(Object.fromEntries(outcomes)).to.deep.equal({ a5: 'full' });
    come('b1', 'b2', 'c1', 'd1');
    await soon();
    expect(Object.fromEntries(outcomes)).to.deep.equal({ a5: 'full', a4: 'full', b2: 'full', a3: 'full' });
    come('e1');
    await soon();
    expect(outcomes.get('e1')).to.equal('full');
  });

  it('refuses a waiter at the deadline and keeps no state of its key', async () => {
    const { semaphore, begun, outcomes, come, end } = place({ deadline: 1, limit: 1 });
    come('a1', 'b1');
    while (!outcomes.has('b1')) await soon();
    expect([outcomes.get('b1'), semaphore.held, semaphore.waiting]).to.deep.equal(['timeout', 1, 0]);
    await end('a1');
    come('c1');
    await soon();
    expect([begun, semaphore.held]).to.deep.equal([['a1', 'c1'], 1]);
  });
});

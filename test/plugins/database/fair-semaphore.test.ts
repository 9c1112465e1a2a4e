import { expect } from 'chai';
import type { PoolShareHolder } from '../../../plugins/database/contract.ts';
import { createPoolSlotSemaphore, type PoolSlotSemaphore } from '../../../plugins/database/pool-slot-semaphore.ts';
import { captureError } from '../../support/test-plugins.ts';

const share = (
  collection: string | undefined,
  client: string,
  rank: PoolShareHolder['rank'] = 'request',
): PoolShareHolder => ({
  collection,
  client,
  rank,
});

describe('createFairSemaphore', () => {
  const open = (limit = 10, deadline = 60_000): PoolSlotSemaphore =>
    createPoolSlotSemaphore({ limit, deadline, label: 'slots' });
  /** Number of slots that `count` concurrent requests of one share get without waiting. */
  const taken = (slots: PoolSlotSemaphore, one: PoolShareHolder, count = 20): number => {
    let got = 0;
    for (let at = 0; at < count; at++) if (slots.acquire(one, undefined) === undefined) got++;
    return got;
  };

  it('one collection gets most slots, and the next collection one of the rest', () => {
    const slots = open();
    expect([taken(open(50), share('a', 'x'), 60), taken(open(5), share('a', 'x'))]).to.deep.equal([36, 3]);
    expect([taken(slots, share('a', 'x')), taken(slots, share('b', 'y'))]).to.deep.equal([7, 1]);
  });

  it('a client whose statements of one collection hang gets a slot for another collection', () => {
    const slots = open();
    expect([taken(slots, share('a', 'x')), taken(slots, share('b', 'x'))]).to.deep.equal([7, 1]);
    const ofAdmin = open();
    expect([taken(ofAdmin, share('a', 'x', 'service')), taken(ofAdmin, share('b', 'x', 'service'))]).to.deep.equal([
      8, 1,
    ]);
  });

  it('a client gets no more slots by requests for many collections', () => {
    const slots = open();
    let got = 0;
    for (let at = 0; at < 20; at++) got += taken(slots, share(`c${at}`, 'x'), 1);
    expect([got, taken(slots, share('other', 'y'), 1)]).to.deep.equal([8, 1]);
  });

  it('one slot stays for admins and the service when requests hold all others', () => {
    const slots = open();
    for (let at = 0; at < 20; at++) taken(slots, share(`c${at}`, `x${at}`), 1);
    expect(slots.held).to.equal(9);
    expect(taken(slots, share(undefined, 'plugin auth', 'service'))).to.equal(1);
  });

  it('clients that hold one slot each leave slots for another collection', () => {
    const slots = open();
    for (let at = 0; at < 20; at++) taken(slots, share('a', `x${at}`), 1);
    expect([slots.held, taken(slots, share('b', 'x1'), 1)]).to.deep.equal([7, 1]);
  });

  it('a semaphore of one or two slots gives all of them to one share', () => {
    expect([taken(open(1), share('a', 'x')), taken(open(2), share('a', 'x'))]).to.deep.equal([1, 2]);
  });

  it('a released slot goes to the shares in turn, and within a share to the oldest waiter', async () => {
    const slots = open(1);
    const holder = share('a', 'x');
    slots.acquire(holder, undefined);
    const order: string[] = [];
    const waits = ['x1', 'x2', 'y1', 'x3', 'y2'].map(async (name) => {
      const own = share('a', name[0] as string);
      await slots.acquire(own, undefined);
      order.push(name);
      slots.release(own);
    });
    slots.release(holder);
    await Promise.all(waits);
    expect(order).to.deep.equal(['x1', 'y1', 'x2', 'y2', 'x3']);
    expect([slots.held, slots.waiting]).to.deep.equal([0, 0]);
  });

  it('acquire fails where too many requests wait, or half of them of one share', async () => {
    const slots = open(1);
    const holder = share('a', 'x');
    slots.acquire(holder, undefined);
    const waits: (Promise<void> | undefined)[] = [];
    const waiting = (one: PoolShareHolder) => waits.push(slots.acquire(one, undefined)?.then(() => slots.release(one)));
    for (let at = 0; at < 50; at++) waiting(share('a', 'x'));
    expect(() => slots.acquire(share('a', 'x'), undefined)).to.throw(/too many requests wait/);
    for (let at = 0; at < 50; at++) waiting(share(`b${at}`, `y${at}`));
    expect(slots.waiting).to.equal(100);
    expect(() => slots.acquire(share('c', 'z'), undefined)).to.throw(/too many requests wait/);
    expect(slots.refusedAt).to.be.above(0);
    slots.release(holder);
    await Promise.all(waits);
    expect([slots.held, slots.waiting]).to.deep.equal([0, 0]);
  });

  it('a waiter fails after the deadline, and when its client disconnects', async () => {
    const slots = open(1, 20);
    slots.acquire(share('a', 'x'), undefined);
    const late = await captureError(slots.acquire(share('a', 'x'), undefined) as Promise<void>);
    expect(late.message).to.contain('were in use for 20 ms');
    expect((late as unknown as { extensions: object }).extensions).to.include({ retryAfter: 1 });
    const leaving = new AbortController();
    const left = slots.acquire(share('a', 'x'), () => leaving.signal) as Promise<void>;
    leaving.abort(new Error('gone'));
    expect((await captureError(left)).message).to.equal('gone');
    expect(slots.waiting).to.equal(0);
  });
});

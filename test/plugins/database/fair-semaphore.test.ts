import { expect } from 'chai';
import type { Share } from '../../../plugins/database/contract.ts';
import { createFairSemaphore, type FairSemaphore } from '../../../plugins/database/fair-semaphore.ts';
import { failureOf } from '../../support/plugin.ts';

const share = (collection: string | undefined, client: string, rank: Share['rank'] = 'request'): Share => ({
  collection,
  client,
  rank,
});

describe('places of the pool', () => {
  const open = (limit = 10, deadline = 60_000): FairSemaphore =>
    createFairSemaphore({ limit, deadline, label: 'places' });
  /** How many of the same share get a place at once. */
  const taken = (places: FairSemaphore, one: Share, count = 20): number => {
    let got = 0;
    for (let at = 0; at < count; at++) if (places.acquire(one, undefined) === undefined) got++;
    return got;
  };

  it('give most to one collection, and some of the rest to the next one', () => {
    const places = open();
    expect([taken(open(50), share('a', 'x'), 60), taken(open(5), share('a', 'x'))]).to.deep.equal([36, 3]);
    expect([taken(places, share('a', 'x')), taken(places, share('b', 'y'))]).to.deep.equal([7, 1]);
  });

  it('are left to a client for another collection than the one in which its statements hang', () => {
    const places = open();
    expect([taken(places, share('a', 'x')), taken(places, share('b', 'x'))]).to.deep.equal([7, 1]);
    const ofAdmin = open();
    expect([taken(ofAdmin, share('a', 'x', 'service')), taken(ofAdmin, share('b', 'x', 'service'))]).to.deep.equal([
      8, 1,
    ]);
  });

  it('are no more for a client that asks for many collections', () => {
    const places = open();
    let got = 0;
    for (let at = 0; at < 20; at++) got += taken(places, share(`c${at}`, 'x'), 1);
    expect([got, taken(places, share('other', 'y'), 1)]).to.deep.equal([8, 1]);
  });

  it('keep one for admins and the service when clients hold all they may', () => {
    const places = open();
    for (let at = 0; at < 20; at++) taken(places, share(`c${at}`, `x${at}`), 1);
    expect(places.held).to.equal(9);
    expect(taken(places, share(undefined, 'plugin auth', 'service'))).to.equal(1);
  });

  it('are left for another collection to clients that hold one each', () => {
    const places = open();
    for (let at = 0; at < 20; at++) taken(places, share('a', `x${at}`), 1);
    expect([places.held, taken(places, share('b', 'x1'), 1)]).to.deep.equal([7, 1]);
  });

  it('are all for use where there are few', () => {
    expect([taken(open(1), share('a', 'x')), taken(open(2), share('a', 'x'))]).to.deep.equal([1, 2]);
  });

  it('pass to those who wait, by turns, and in the order in which those of one share came', async () => {
    const places = open(1);
    const holder = share('a', 'x');
    places.acquire(holder, undefined);
    const order: string[] = [];
    const waits = ['x1', 'x2', 'y1', 'x3', 'y2'].map(async (name) => {
      const own = share('a', name[0] as string);
      await places.acquire(own, undefined);
      order.push(name);
      places.release(own);
    });
    places.release(holder);
    await Promise.all(waits);
    expect(order).to.deep.equal(['x1', 'y1', 'x2', 'y2', 'x3']);
    expect([places.held, places.waiting]).to.deep.equal([0, 0]);
  });

  it('are waited for by a bounded number, of which one share is half', async () => {
    const places = open(1);
    const holder = share('a', 'x');
    places.acquire(holder, undefined);
    const waits: (Promise<void> | undefined)[] = [];
    const waiting = (one: Share) => waits.push(places.acquire(one, undefined)?.then(() => places.release(one)));
    for (let at = 0; at < 50; at++) waiting(share('a', 'x'));
    expect(() => places.acquire(share('a', 'x'), undefined)).to.throw(/too many requests wait/);
    for (let at = 0; at < 50; at++) waiting(share(`b${at}`, `y${at}`));
    expect(places.waiting).to.equal(100);
    expect(() => places.acquire(share('c', 'z'), undefined)).to.throw(/too many requests wait/);
    expect(places.refusedAt).to.be.above(0);
    places.release(holder);
    await Promise.all(waits);
    expect([places.held, places.waiting]).to.deep.equal([0, 0]);
  });

  it('are waited for as long as is set, and by no client that left', async () => {
    const places = open(1, 20);
    places.acquire(share('a', 'x'), undefined);
    const late = await failureOf(places.acquire(share('a', 'x'), undefined) as Promise<void>);
    expect(late.message).to.contain('were in use for 20 ms');
    expect((late as unknown as { extensions: object }).extensions).to.include({ retryAfter: 1 });
    const leaving = new AbortController();
    const left = places.acquire(share('a', 'x'), () => leaving.signal) as Promise<void>;
    leaving.abort(new Error('gone'));
    expect((await failureOf(left)).message).to.equal('gone');
    expect(places.waiting).to.equal(0);
  });
});

import { expect } from 'chai';
import type { Refusal } from '#kernel';
import { createTurns } from '../../../../plugins/items/capability/turns.ts';
import { failureOf } from '../../../support/plugin.ts';

describe('items: turns of packages', () => {
  const later = () => {
    const started: string[] = [];
    const ends = new Map<string, (error?: Error) => void>();
    const work = (name: string) => () =>
      new Promise<string>((resolve, reject) => {
        started.push(name);
        ends.set(name, (error) => (error ? reject(error) : resolve(name)));
      });
    return { started, ends, work };
  };
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  const always = new AbortController().signal;

  it('are a few at a time, in order, and nobody else’s', async () => {
    const { started, ends, work } = later();
    const turns = createTurns(2);
    const all = ['a', 'b', 'c', 'd'].map((name) => turns('ext', always, work(name)));
    const other = turns('other', always, work('x'));
    await settle();
    expect(started).to.deep.equal(['a', 'b', 'x']);
    ends.get('b')?.();
    ends.get('a')?.(new Error('failed'));
    await settle();
    expect(started).to.deep.equal(['a', 'b', 'x', 'c', 'd']);
    for (const name of ['c', 'd', 'x']) ends.get(name)?.();
    expect((await failureOf(all[0] as Promise<string>)).message).to.equal('failed');
    expect(await Promise.all([...all.slice(1), other])).to.deep.equal(['b', 'c', 'd', 'x']);
  });

  it('pass those who have left', async () => {
    const { started, ends, work } = later();
    const turns = createTurns(1);
    const first = turns('ext', always, work('a'));
    const leaving = new AbortController();
    const left = failureOf<Refusal>(turns('ext', leaving.signal, work('b')));
    const last = turns('ext', always, work('c'));
    leaving.abort();
    expect(await left).to.include({ code: 'timeout' });
    expect(await failureOf<Refusal>(turns('ext', leaving.signal, work('d')))).to.include({ code: 'timeout' });
    ends.get('a')?.();
    await settle();
    ends.get('c')?.();
    expect([await first, await last, started]).to.deep.equal(['a', 'c', ['a', 'c']]);
  });
});

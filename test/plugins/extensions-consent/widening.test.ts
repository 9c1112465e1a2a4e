import { expect } from 'chai';
import { describeRequestedGrants, describeWidenedGrants } from '../../../plugins/extensions-consent/widening.ts';

type RequestedGrants = Parameters<typeof describeRequestedGrants>[0];

/** A fake broker whose grants are lists: a list with another entry is wider. */
const subjects = {
  widens: (before: Readonly<Record<string, unknown>>, after: Readonly<Record<string, unknown>>) =>
    Object.entries(after).some(([name, list]) => {
      const had = (before[name] ?? []) as string[];
      return before[name] === undefined || (list as string[]).some((one) => !had.includes(one));
    }),
  describe: (grants: Readonly<Record<string, unknown>>) =>
    Object.entries(grants).flatMap(([name, list]) => (list as string[]).map((one) => `${name} ${one}`)),
};
const requests = (entries: RequestedGrants['entries'], stateful = false): RequestedGrants => ({ entries, stateful });

describe('describeWidenedGrants and describeRequest', () => {
  const before = requests({ '': { request: ['a'], items: ['x', 'y'] } });

  it('the same or fewer requests give no sentence', () => {
    expect(describeWidenedGrants(before, before, subjects)).to.deep.equal([]);
    expect(describeWidenedGrants(before, requests({ '': { items: ['x'] } }), subjects)).to.deep.equal([]);
    expect(describeWidenedGrants(before, requests({}), subjects)).to.deep.equal([]);
  });

  it('added requests give their sentences', () => {
    const after = requests({ '': { request: ['a', 'b'], items: ['x'], log: ['all'] } });
    expect(describeWidenedGrants(before, after, subjects)).to.deep.equal(['request b', 'log all']);
  });

  it('a wider grant with the same sentence still gives a sentence', () => {
    const mute = { ...subjects, describe: () => [] };
    expect(describeWidenedGrants(before, requests({ '': { request: ['b'] } }), mute)).to.deep.equal([
      'asks for more of request',
    ]);
  });

  it('each bundle entry is compared with its own earlier grants only', () => {
    const bundle = requests({ 'hook:a': { items: ['x'] } });
    const after = requests({ 'hook:a': { items: ['x'] }, 'hook:b': { items: ['x'] } });
    expect(describeWidenedGrants(bundle, after, subjects)).to.deep.equal(['hook:b: items x']);
    expect(describeWidenedGrants(bundle, requests({ constructor: { items: ['x'] } }), subjects)).to.deep.equal([
      'constructor: items x',
    ]);
  });

  it('"stateful" gives a sentence', () => {
    expect(describeWidenedGrants(before, requests(before.entries, true), subjects)).to.deep.equal([
      'keeps state between its callers',
    ]);
    expect(describeWidenedGrants(requests(before.entries, true), before, subjects)).to.deep.equal([]);
  });

  it('a first version gives the sentences of all requests', () => {
    expect(describeRequestedGrants(before, subjects)).to.deep.equal(['request a', 'items x', 'items y']);
  });
});

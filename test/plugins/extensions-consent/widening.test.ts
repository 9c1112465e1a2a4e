import { expect } from 'chai';
import type { RequestedGrants } from '../../../plugins/extensions-consent/requested-grants.ts';
import { describeRequest, describeWidening } from '../../../plugins/extensions-consent/widening.ts';

/** Grants here are lists; a longer one allows more. */
const subjects = {
  widens: (before: Readonly<Record<string, unknown>>, after: Readonly<Record<string, unknown>>) =>
    Object.entries(after).some(([name, list]) => {
      const had = (before[name] ?? []) as string[];
      return before[name] === undefined || (list as string[]).some((one) => !had.includes(one));
    }),
  describe: (grants: Readonly<Record<string, unknown>>) =>
    Object.entries(grants).flatMap(([name, list]) => (list as string[]).map((one) => `${name} ${one}`)),
};
const asked = (entries: RequestedGrants['entries'], stateful = false): RequestedGrants => ({ entries, stateful });

describe('extensions: what a version asks for beyond the one before', () => {
  const before = asked({ '': { request: ['a'], items: ['x', 'y'] } });

  it('is nothing for the same and for less', () => {
    expect(describeWidening(before, before, subjects)).to.deep.equal([]);
    expect(describeWidening(before, asked({ '': { items: ['x'] } }), subjects)).to.deep.equal([]);
    expect(describeWidening(before, asked({}), subjects)).to.deep.equal([]);
  });

  it('is told in the sentences that are added', () => {
    const after = asked({ '': { request: ['a', 'b'], items: ['x'], log: ['all'] } });
    expect(describeWidening(before, after, subjects)).to.deep.equal(['request b', 'log all']);
  });

  it('is told even where no sentence is added', () => {
    const mute = { ...subjects, describe: () => [] };
    expect(describeWidening(before, asked({ '': { request: ['b'] } }), mute)).to.deep.equal([
      'asks for more of request',
    ]);
  });

  it('is looked at for each entry of a bundle: what one was allowed is not for another', () => {
    const bundle = asked({ 'hook:a': { items: ['x'] } });
    const after = asked({ 'hook:a': { items: ['x'] }, 'hook:b': { items: ['x'] } });
    expect(describeWidening(bundle, after, subjects)).to.deep.equal(['hook:b: items x']);
    expect(describeWidening(bundle, asked({ constructor: { items: ['x'] } }), subjects)).to.deep.equal([
      'constructor: items x',
    ]);
  });

  it('includes state that is kept between callers', () => {
    expect(describeWidening(before, asked(before.entries, true), subjects)).to.deep.equal([
      'keeps state between its callers',
    ]);
    expect(describeWidening(asked(before.entries, true), before, subjects)).to.deep.equal([]);
  });

  it('is everything at first', () => {
    expect(describeRequest(before, subjects)).to.deep.equal(['request a', 'items x', 'items y']);
  });
});

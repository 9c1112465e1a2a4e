import { expect } from 'chai';
import { lastProcessors, processorsOf } from '../../../plugins/workers/processors.ts';

describe('the processors that a worker may run on', () => {
  it('are read from a list of numbers and ranges', () => {
    expect(processorsOf('0')).to.deep.equal([0]);
    expect(processorsOf('0,2-4,7')).to.deep.equal([0, 2, 3, 4, 7]);
  });

  it('are a share of those of the service, and one at least', () => {
    const all = lastProcessors(1)?.split(',') ?? [];
    expect(all).to.not.be.empty;
    expect(lastProcessors(0)).to.equal(all.at(-1));
    expect(lastProcessors(0.5)?.split(',')).to.have.lengthOf(Math.max(1, Math.floor(all.length / 2)));
  });
});

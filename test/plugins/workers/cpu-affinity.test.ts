import { expect } from 'chai';
import { takeLastCpus } from '../../../plugins/workers/cpu-affinity.ts';

describe('lastProcessors()', () => {
  for (const [list, share, expected] of [
    ['0', 0.5, '0'],
    ['0-1', 0.5, '1'],
    ['0,2-4,7', 0.5, '4,7'],
    ['0-3', 0, '3'],
    ['0-3', 1, '0,1,2,3'],
  ] as const) {
    it(`returns ${expected} for ${share} of ${list}`, () => {
      expect(takeLastCpus(list, share)).to.equal(expected);
    });
  }
});

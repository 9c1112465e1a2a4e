import { expect } from 'chai';
import { weightOf } from '../../../../plugins/items/read/weight.ts';

describe('items: what a remembered statement weighs', () => {
  const text = 'select 1';
  it('is its text and its values, however they are held', () => {
    expect(weightOf({ text, params: [] })).to.equal(16);
    const long = 'x'.repeat(1_000_000);
    expect(weightOf({ text, params: [long] })).to.be.within(2_000_000, 2_000_100);
    expect(weightOf({ text, params: [1, ['a', [long]]] })).to.be.within(2_000_000, 2_000_100);
    expect(weightOf({ text, params: [Array.from({ length: 10_000 }, () => 1)] })).to.be.greaterThan(80_000);
  });
});

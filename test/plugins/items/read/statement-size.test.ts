import { expect } from 'chai';
import { estimateStatementBytes } from '../../../../plugins/items/read/statement-size.ts';

describe('estimateBytes', () => {
  const text = 'select 1';
  it('counts the text and the values, however they are nested', () => {
    expect(estimateStatementBytes({ text, params: [] })).to.equal(16);
    const long = 'x'.repeat(1_000_000);
    expect(estimateStatementBytes({ text, params: [long] })).to.be.within(2_000_000, 2_000_100);
    expect(estimateStatementBytes({ text, params: [1, ['a', [long]]] })).to.be.within(2_000_000, 2_000_100);
    expect(estimateStatementBytes({ text, params: [Array.from({ length: 10_000 }, () => 1)] })).to.be.greaterThan(
      80_000,
    );
  });
});

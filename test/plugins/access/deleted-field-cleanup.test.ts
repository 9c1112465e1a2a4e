import { expect } from 'chai';
import { denyRowsByDeletedFields, pruneDeletedFieldConditions } from '../../../plugins/access/permission-cleanup.ts';

const none = { id: { _null: true } };

describe('rules that name a deleted field', () => {
  it('a row rule matches no row where it compared the deleted field', () => {
    expect(denyRowsByDeletedFields({ gone: { _eq: 1 }, other: { _eq: 2 } }, ['gone'], none)).to.deep.equal(none);
    expect(denyRowsByDeletedFields({ _and: [{ gone: { _eq: 1 } }, { a: { _eq: 2 } }] }, ['gone'], none)).to.deep.equal({
      _and: [none, { a: { _eq: 2 } }],
    });
    expect(denyRowsByDeletedFields({ _or: [{ gone: { _eq: 1 } }, { a: { _eq: 2 } }] }, ['gone'], none)).to.deep.equal({
      _or: [none, { a: { _eq: 2 } }],
    });
  });

  it('a row rule that names the deleted field only as a value or below a relation is unchanged', () => {
    const rule = { _or: [{ a: { _eq: 'gone' } }, { b: { gone: { _eq: 1 } } }] };
    expect(denyRowsByDeletedFields(rule, ['gone'], none)).to.deep.equal(rule);
  });

  it('a validation loses its conditions on the deleted field', () => {
    expect(pruneDeletedFieldConditions({ _and: [{ gone: { _eq: 1 } }, { a: { _eq: 2 } }] }, ['gone'])).to.deep.equal({
      _and: [{ a: { _eq: 2 } }],
    });
    expect(
      pruneDeletedFieldConditions({ _or: [{ gone: { _submitted: true } }, { a: { _eq: 2 } }] }, ['gone']),
    ).to.deep.equal({
      _or: [{ a: { _eq: 2 } }],
    });
  });
});

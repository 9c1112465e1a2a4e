import { expect } from 'chai';
import { closeRule, pruneValidation } from '../../../plugins/access/cleanup.ts';

const none = { id: { _null: true } };

describe('rules of a field that is deleted', () => {
  it('match nothing where the field was a condition', () => {
    expect(closeRule({ gone: { _eq: 1 }, other: { _eq: 2 } }, ['gone'], none)).to.deep.equal(none);
    expect(closeRule({ _and: [{ gone: { _eq: 1 } }, { a: { _eq: 2 } }] }, ['gone'], none)).to.deep.equal({
      _and: [none, { a: { _eq: 2 } }],
    });
    expect(closeRule({ _or: [{ gone: { _eq: 1 } }, { a: { _eq: 2 } }] }, ['gone'], none)).to.deep.equal({
      _or: [none, { a: { _eq: 2 } }],
    });
  });

  it('stay as they are otherwise', () => {
    const rule = { _or: [{ a: { _eq: 'gone' } }, { b: { gone: { _eq: 1 } } }] };
    expect(closeRule(rule, ['gone'], none)).to.deep.equal(rule);
  });

  it('leave a validation without them', () => {
    expect(pruneValidation({ _and: [{ gone: { _eq: 1 } }, { a: { _eq: 2 } }] }, ['gone'])).to.deep.equal({
      _and: [{ a: { _eq: 2 } }],
    });
    expect(pruneValidation({ _or: [{ gone: { _submitted: true } }, { a: { _eq: 2 } }] }, ['gone'])).to.deep.equal({
      _or: [{ a: { _eq: 2 } }],
    });
  });
});

import { expect } from 'chai';
import { validateRow } from '../../../plugins/access/library.ts';
import { NO_DYNAMIC_VALUE } from '../../../plugins/access/validation/compare.ts';

type Case = readonly [title: string, rule: unknown, row: Record<string, unknown>, broken: readonly object[]];

const cases: readonly Case[] = [
  ['no rule', null, { a: 1 }, []],
  ['an empty rule', {}, { a: 1 }, []],
  ['a field that was not submitted', { a: { _eq: 1 } }, {}, []],
  ['the same text', { a: { _eq: 'x' } }, { a: 'x' }, []],
  ['another text', { a: { _eq: 'x' } }, { a: 'y' }, [{ path: ['a'], type: 'eq', valid: 'x' }]],
  ['a bare value', { a: 'x' }, { a: 'y' }, [{ path: ['a'], type: 'eq', valid: 'x' }]],
  ['a number and its text', { a: { _eq: 5 } }, { a: '5' }, []],
  ['a text and its number', { a: { _eq: '5' } }, { a: 5 }, []],
  ['another number', { a: { _eq: 5 } }, { a: 6 }, [{ path: ['a'], type: 'in', valid: [5, '5'] }]],
  [
    'two texts that are equal as numbers only',
    { a: { _eq: '5' } },
    { a: '5.0' },
    [{ path: ['a'], type: 'in', valid: [5, '5'] }],
  ],
  ['a flag and its name', { a: { _eq: 'true' } }, { a: true }, []],
  ['null is not nothing', { a: { _eq: 'x' } }, { a: null }, [{ path: ['a'], type: 'eq', valid: 'x' }]],
  ['neq', { a: { _neq: 'x' } }, { a: 'x' }, [{ path: ['a'], type: 'neq', invalid: 'x' }]],
  ['neq and null', { a: { _neq: 'x' } }, { a: null }, []],
  ['ieq', { a: { _ieq: 'ABC' } }, { a: 'abc' }, []],
  ['nieq', { a: { _nieq: 'ABC' } }, { a: 'abc' }, [{ path: ['a'], type: 'neq', invalid: 'ABC' }]],
  ['lt', { a: { _lt: 3 } }, { a: 3 }, [{ path: ['a'], type: 'lt', valid: 3 }]],
  ['lte', { a: { _lte: 3 } }, { a: 3 }, []],
  ['gt by number, not by text', { a: { _gt: '9' } }, { a: '10' }, []],
  ['gte and null', { a: { _gte: 1 } }, { a: null }, [{ path: ['a'], type: 'gte', valid: 1 }]],
  ['whole numbers beyond doubles', { a: { _gt: '9007199254740992' } }, { a: '9007199254740993' }, []],
  ['dates', { a: { _gt: '2026-01-01' } }, { a: '2026-01-01T00:00:01' }, []],
  ['dates with zones', { a: { _lt: '2026-01-01T00:00:00Z' } }, { a: '2026-01-01T00:30:00+01:00' }, []],
  ['times', { a: { _gte: '12:00' } }, { a: '11:59:59' }, [{ path: ['a'], type: 'gte', valid: '12:00' }]],
  ['words have no order', { a: { _gt: 'a' } }, { a: 'b' }, [{ path: ['a'], type: 'gt', valid: 'a' }]],
  ['between', { a: { _between: [1, 3] } }, { a: 4 }, [{ path: ['a'], type: 'lte', valid: 3 }]],
  ['between, as text', { a: { _between: '1,3' } }, { a: 0 }, [{ path: ['a'], type: 'gte', valid: '1' }]],
  ['nbetween', { a: { _nbetween: [1, 3] } }, { a: 2 }, [{ path: ['a'], type: 'nin', invalid: [1, 3] }]],
  ['in', { a: { _in: [1, 2] } }, { a: '2' }, []],
  ['not in', { a: { _in: ['x', 'y'] } }, { a: 'z' }, [{ path: ['a'], type: 'in', valid: ['x', 'y'] }]],
  ['nin', { a: { _nin: ['x'] } }, { a: 'x' }, [{ path: ['a'], type: 'nin', invalid: ['x'] }]],
  ['null', { a: { _null: true } }, { a: 1 }, [{ path: ['a'], type: 'null' }]],
  ['null: false', { a: { _null: false } }, { a: null }, [{ path: ['a'], type: 'nnull' }]],
  ['nnull', { a: { _nnull: true } }, { a: null }, [{ path: ['a'], type: 'nnull' }]],
  ['nnull of a field that was not submitted', { a: { _nnull: true } }, {}, []],
  ['empty', { a: { _empty: true } }, { a: 'x' }, [{ path: ['a'], type: 'empty' }]],
  ['nempty', { a: { _nempty: true } }, { a: '' }, [{ path: ['a'], type: 'nempty' }]],
  ['nempty and null', { a: { _nempty: true } }, { a: null }, [{ path: ['a'], type: 'nempty' }]],
  ['nempty and zero', { a: { _nempty: true } }, { a: 0 }, []],
  ['contains', { a: { _contains: 'b' } }, { a: 'xyz' }, [{ path: ['a'], type: 'contains', substring: 'b' }]],
  ['contains minds case', { a: { _contains: 'B' } }, { a: 'abc' }, [{ path: ['a'], type: 'contains', substring: 'B' }]],
  ['icontains', { a: { _icontains: 'B' } }, { a: 'abc' }, []],
  ['ncontains', { a: { _ncontains: 'b' } }, { a: 'abc' }, [{ path: ['a'], type: 'ncontains', substring: 'b' }]],
  ['ncontains and null', { a: { _ncontains: 'b' } }, { a: null }, []],
  ['nicontains', { a: { _nicontains: 'B' } }, { a: 'abc' }, [{ path: ['a'], type: 'nicontains', substring: 'B' }]],
  ['starts_with', { a: { _starts_with: 'ab' } }, { a: 'abc' }, []],
  ['starts_with a number', { a: { _starts_with: '1' } }, { a: 123 }, []],
  [
    'nstarts_with',
    { a: { _nstarts_with: 'ab' } },
    { a: 'abc' },
    [{ path: ['a'], type: 'nstarts_with', substring: 'ab' }],
  ],
  ['istarts_with', { a: { _istarts_with: 'AB' } }, { a: 'abc' }, []],
  [
    'nistarts_with',
    { a: { _nistarts_with: 'AB' } },
    { a: 'abc' },
    [{ path: ['a'], type: 'nistarts_with', substring: 'AB' }],
  ],
  ['ends_with', { a: { _ends_with: 'x' } }, { a: 'abc' }, [{ path: ['a'], type: 'ends_with', substring: 'x' }]],
  ['nends_with', { a: { _nends_with: 'c' } }, { a: 'abc' }, [{ path: ['a'], type: 'nends_with', substring: 'c' }]],
  ['iends_with', { a: { _iends_with: 'C' } }, { a: 'abc' }, []],
  ['niends_with', { a: { _niends_with: 'C' } }, { a: 'abc' }, [{ path: ['a'], type: 'niends_with', substring: 'C' }]],
  [
    'text rules and objects',
    { a: { _ncontains: 'b' } },
    { a: { b: 1 } },
    [{ path: ['a'], type: 'ncontains', substring: 'b' }],
  ],
  ['regex', { a: { _regex: '^a+$' } }, { a: 'aab' }, [{ path: ['a'], type: 'regex', invalid: 'aab' }]],
  ['regex in slashes with flags', { a: { _regex: '/^A+$/i' } }, { a: 'aaa' }, []],
  ['a regex that is none', { a: { _regex: '(' } }, { a: 'x' }, [{ path: ['a'], type: 'regex', invalid: 'x' }]],
  ['submitted', { a: { _submitted: true } }, {}, [{ path: ['a'], type: 'required' }]],
  ['submitted as null', { a: { _submitted: true } }, { a: null }, []],
  ['an unknown operator', { a: { _intersects: {} } }, { a: 1 }, [{ path: ['a'], type: 'intersects' }]],
  ['a rule that is no filter', 'x', { a: 1 }, [{ path: [], type: 'required' }]],
  ['several operators', { a: { _gt: 1, _lt: 3 } }, { a: 3 }, [{ path: ['a'], type: 'lt', valid: 3 }]],
  [
    '_and with two broken rules',
    { _and: [{ a: { _eq: 'x' } }, { b: { _eq: 'y' } }] },
    { a: 1, b: 2 },
    [
      { path: ['a'], type: 'eq', valid: 'x' },
      { path: ['b'], type: 'eq', valid: 'y' },
    ],
  ],
  ['_or with one valid branch', { _or: [{ a: { _eq: 'x' } }, { b: { _eq: 'y' } }] }, { a: 'q', b: 'y' }, []],
  [
    '_or without a valid branch',
    { _or: [{ a: { _eq: 'x' } }, { a: { _eq: 'y' } }] },
    { a: 'z' },
    [
      { path: ['a'], type: 'eq', valid: 'x' },
      { path: ['a'], type: 'eq', valid: 'y' },
    ],
  ],
  ['_or below a field', { a: { _or: [{ _null: true }, { _gt: 3 }] } }, { a: null }, []],
  [
    'a member of an object',
    { a: { b: { _eq: 1 } } },
    { a: { b: 2 } },
    [{ path: ['a', 'b'], type: 'in', valid: [1, '1'] }],
  ],
  ['a member that is not there', { a: { b: { _eq: 1 } } }, { a: {} }, []],
  [
    'a missing row is a row of nulls',
    { a: { b: { _nnull: true } } },
    { a: null },
    [{ path: ['a', 'b'], type: 'nnull' }],
  ],
  ['a bare key cannot be judged', { a: { b: { _eq: 1 } } }, { a: 7 }, [{ path: ['a'], type: 'required' }]],
  ['some of a list', { a: { b: { _eq: 'x' } } }, { a: [{ b: 'y' }, { b: 'x' }] }, []],
  ['none of a list', { a: { _none: { b: { _eq: 'x' } } } }, { a: [{ b: 'x' }] }, [{ path: ['a'], type: 'required' }]],
  [
    'none of a list with a bare key',
    { a: { _none: { b: { _eq: 'x' } } } },
    { a: [4] },
    [{ path: ['a'], type: 'required' }],
  ],
  [
    '_eq with a missing dynamic value',
    { a: { _eq: NO_DYNAMIC_VALUE } },
    { a: null },
    [{ path: ['a'], type: 'eq', valid: null }],
  ],
  [
    '_neq with a missing dynamic value',
    { a: { _neq: NO_DYNAMIC_VALUE } },
    { a: 'x' },
    [{ path: ['a'], type: 'neq', invalid: null }],
  ],
  [
    '_in with a missing dynamic value',
    { a: { _in: [NO_DYNAMIC_VALUE] } },
    { a: null },
    [{ path: ['a'], type: 'in', valid: [] }],
  ],
  ['a rule on "constructor"', { constructor: { _eq: 'x' } }, {}, []],
];

describe('validateRow', () => {
  for (const [title, rule, row, broken] of cases) {
    it(`${title}: ${broken.length === 0 ? 'the row is valid' : `the row has ${broken.length} validation error(s)`}`, () =>
      expect(validateRow(rule, row)).to.deep.equal(broken));
  }

  describe('on create, where a missing field is stored as null', () => {
    const options = { nullUnlessSubmitted: (field: string) => field === 'a' };

    it('_nnull requires a missing field', () => {
      expect(validateRow({ a: { _nnull: true } }, {}, options)).to.deep.equal([{ path: ['a'], type: 'nnull' }]);
    });
    it('_nempty requires a missing field', () => {
      expect(validateRow({ a: { _nempty: true } }, {}, options)).to.deep.equal([{ path: ['a'], type: 'nempty' }]);
    });
    it('other rules ignore a missing field', () => {
      expect(validateRow({ a: { _eq: 1, _gt: 0, b: { _nnull: true } } }, {}, options)).to.deep.equal([]);
    });
    it('a field with a default may be left out', () => {
      expect(validateRow({ c: { _nnull: true } }, {}, options)).to.deep.equal([]);
    });
  });

  describe('on an array column', () => {
    const options = { isArray: (field: string) => field === 'tags' };
    const isValid = (rule: object, tags: unknown) => validateRow({ tags: rule }, { tags }, options).length === 0;

    for (const [rule, kept, broken] of [
      [{ _contains: 'a' }, ['b', 'a'], ['ba']],
      [{ _contains: 5 }, ['5'], ['15']],
      [{ _ncontains: 'a' }, ['ba'], ['a']],
      [{ _ncontains: 'a' }, null, ['a', 'b']],
      [{ _in: 'a,b' }, ['x', 'b'], ['x']],
      [{ _has_any: ['a', 'b'] }, ['b'], null],
      [{ _nin: ['a', 'b'] }, ['x'], ['x', 'b']],
      [{ _has_all: ['a', 'b'] }, ['b', 'x', 'a'], ['a']],
      [{ _eq: ['a', 'b'] }, ['a', 'b'], ['b', 'a']],
      [{ _neq: ['a', 'b'] }, ['b', 'a'], ['a', 'b']],
      [{ _empty: true }, [], ['']],
      [{ _contains: { k: 1 } }, [{ k: 1 }], [{ k: 2 }]],
    ] as const) {
      it(`${JSON.stringify(rule)} holds for ${JSON.stringify(kept)} and not for ${JSON.stringify(broken)}`, () => {
        expect([isValid(rule, kept), isValid(rule, broken)]).to.deep.equal([true, false]);
      });
    }

    it('no rule holds with a missing dynamic value', () => {
      for (const operator of ['_contains', '_ncontains', '_eq', '_neq'])
        expect(isValid({ [operator]: NO_DYNAMIC_VALUE }, ['a']), operator).to.equal(false);
      for (const operator of ['_has_any', '_has_all', '_in', '_nin'])
        expect(isValid({ [operator]: [NO_DYNAMIC_VALUE] }, ['a']), operator).to.equal(false);
    });
  });
});

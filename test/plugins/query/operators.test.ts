import { expect } from 'chai';
import { FILTER_OPERATORS } from '../../../plugins/query/contract.ts';
import { compileCaseToSql, createQueryTestDatabase, type QueryTestDatabase, runCaseAsJsonText } from './query-cases.ts';

/** Field, operator, operand, and the ids of the books it finds (rows: `schemas/library/rows.sql`). */
const FINDS: readonly [field: string, operator: string, operand: unknown, ids: readonly number[]][] = [
  ['title', '_eq', 'One', [1]],
  ['title', '_neq', 'One', [2, 3, 4]],
  ['title', '_ieq', 'oNe', [1]],
  ['title', '_nieq', 'oNe', [2, 3, 4]],
  ['title', '_in', ['One', 'Three'], [1, 3]],
  ['title', '_in', 'One,Three', [1, 3]],
  ['title', '_nin', ['One', 'Three'], [2, 4]],
  ['title', '_contains', 'T', [2, 3]],
  ['title', '_ncontains', 'T', [1, 4]],
  ['title', '_contains', '0%', [2]],
  ['title', '_icontains', 'thr', [3]],
  ['title', '_nicontains', 'thr', [1, 2, 4]],
  ['title', '_starts_with', 'T', [2, 3]],
  ['title', '_nstarts_with', 'T', [1, 4]],
  ['title', '_istarts_with', 't', [2, 3]],
  ['title', '_nistarts_with', 't', [1, 4]],
  ['title', '_ends_with', 'e', [1, 3]],
  ['title', '_nends_with', 'e', [2, 4]],
  ['title', '_iends_with', 'E', [1, 3]],
  ['title', '_niends_with', 'E', [2, 4]],
  ['title', '_empty', true, [4]],
  ['title', '_nempty', 'true', [1, 2, 3]],
  ['title', '_empty', false, [1, 2, 3]],
  ['words', '_contains', 'a', [1]],
  ['words', '_empty', true, [2, 3]],
  ['id', '_lt', 2, [1]],
  ['id', '_lte', '2', [1, 2]],
  ['id', '_gt', 3, [4]],
  ['id', '_gte', 3, [3, 4]],
  ['id', '_eq', 1.5, []],
  ['id', '_eq', '99999999999999999999999', []],
  ['id', '_in', ['1', '99999999999999999999999'], [1]],
  ['price', '_between', [5, 10], [1, 2]],
  ['price', '_between', '5,10', [1, 2]],
  ['price', '_between', [5], [1, 2, 3, 4]],
  ['price', '_nbetween', [5, 10], [4]],
  ['price', '_null', true, [3]],
  ['price', '_nnull', true, [1, 2, 4]],
  ['price', '_eq', null, [3]],
  ['price', '_neq', 'null', [1, 2, 4]],
  ['price', '_neq', '5.00', [1, 4]],
  ['rating', '_eq', 1.5, [1]],
  ['rating', '_lt', 0, [2]],
  ['big', '_eq', '9007199254740993', [1]],
  ['big', '_lt', 0, [4]],
  ['at', '_gt', '2021-01-01', [2, 4]],
  ['at', '_eq', '2021-05-31T22:00:00Z', [2]],
  ['at', '_lt', '$NOW', [1, 2, 4]],
  ['at', '_lt', '$NOW(-200 years)', []],
  ['at', '_empty', true, [3]],
  ['plain', '_eq', '2020-01-01T10:00:00', [1]],
  ['day', '_between', ['2020-01-01', '2021-12-31'], [1, 2]],
  ['clock', '_gte', '12:00', [2]],
  ['ok', '_eq', 'true', [1, 4]],
  ['ok', '_neq', true, [2]],
  ['ok', '_null', true, [3]],
  ['code', '_eq', '11111111-1111-4111-8111-111111111111', [1]],
  ['code', '_in', ['11111111-1111-4111-8111-111111111111', '22222222-2222-4222-8222-222222222222'], [1, 4]],
  ['doc', '_null', true, [2]],
  ['address', '_eq', '10.0.0.1/32', [1]],
  ['author', '_in', [2], [1, 4]],
  ['author', '_eq', '$CURRENT_USER', []],
];

/** Field, operator and operand that do not fit together, and the error code of the refusal. */
const REFUSES: readonly [field: string, operator: string, operand: unknown, code: string][] = [
  ['title', '_lt', 'a', 'INVALID_QUERY'],
  ['title', '_eq', '', 'INVALID_QUERY'],
  ['title', '_eq', 'a\0b', 'INVALID_QUERY'],
  ['title', '_eq', { a: 1 }, 'INVALID_QUERY'],
  ['title', '_regex', 'a', 'INVALID_QUERY'],
  ['title', '_in', [], 'INVALID_QUERY'],
  ['id', '_contains', '1', 'INVALID_QUERY'],
  ['id', '_eq', 'one', 'INVALID_QUERY'],
  ['id', '_null', 'perhaps', 'INVALID_QUERY'],
  ['price', '_gt', true, 'INVALID_QUERY'],
  ['ok', '_gt', true, 'INVALID_QUERY'],
  ['ok', '_eq', 'perhaps', 'INVALID_QUERY'],
  ['code', '_eq', '1', 'INVALID_QUERY'],
  ['code', '_contains', '1', 'INVALID_QUERY'],
  ['at', '_eq', 'soon', 'INVALID_QUERY'],
  ['doc', '_eq', '1', 'INVALID_QUERY'],
  ['clock', '_eq', 'noon', 'INVALID_QUERY'],
  ['nothing', '_eq', '1', 'FORBIDDEN'],
];

describe('filter operators', () => {
  let library: QueryTestDatabase;
  before(async () => {
    library = await createQueryTestDatabase('library');
  });
  after(async () => {
    await library.database.drop();
    console.log(`    ${FINDS.length + REFUSES.length} rows of operators by type`);
  });

  const bookIds = (filter: unknown) => ({ collection: 'book', query: { fields: 'id', filter } });

  for (const [field, operator, operand, ids] of FINDS) {
    it(`${field} ${operator} ${JSON.stringify(operand)} finds ${JSON.stringify(ids)}`, async () => {
      const { data } = await runCaseAsJsonText(bookIds({ [field]: { [operator]: operand } }), library);
      expect(JSON.parse(data ?? '[]').map((one: { id: number }) => one.id)).to.deep.equal(ids);
    });
  }

  for (const [field, operator, operand, code] of REFUSES) {
    it(`${field} ${operator} ${JSON.stringify(operand)} is refused with ${code}`, () => {
      expect(() => compileCaseToSql(bookIds({ [field]: { [operator]: operand } }), library.schema))
        .to.throw()
        .with.property('code', code);
    });
  }

  it('the table of this test covers every operator that needs neither PostGIS nor an array', () => {
    const used = new Set(FINDS.map(([, operator]) => operator));
    expect(
      FILTER_OPERATORS.filter((one) => !used.has(one) && !one.includes('intersects') && !one.startsWith('_has_')),
    ).to.deep.equal([]);
  });
});

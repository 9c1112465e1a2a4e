import type { Read } from '../contract.ts';
import { isUuid } from '../uuid.ts';
import { escapeLike } from './comparison.ts';
import { operandSql } from './operand.ts';
import type { Statement } from './statement.ts';

/** Terms that can equal a number; others are only looked for in texts. */
const NUMERIC = /^[+-]?(\d{1,38}(\.\d{0,38})?|\.\d{1,38})$/;

/** Any of the readable fields: texts contain the term, numbers and UUIDs equal it; with none left, no rows. */
export function searchSql(statement: Statement, alias: string, { search, searched }: Read): string {
  const term = search as string;
  const tests = searched.flatMap((use) => {
    // Only where it is used: a parameter that stands nowhere in the statement is an error.
    const left = () => operandSql(statement, alias, use);
    switch (use.field.type) {
      case 'uuid':
        return isUuid(term) ? [`${left()} = ${statement.param(term, 'uuid')}`] : [];
      case 'integer':
      case 'bigInteger':
      case 'decimal':
      case 'float':
        return NUMERIC.test(term) ? [`${left()} = ${statement.param(term, 'numeric')}`] : [];
      default:
        return [`${left()}::text ilike ${statement.param(`%${escapeLike(term)}%`, 'text')}`];
    }
  });
  return tests.length === 0 ? 'false' : tests.join(' or ');
}

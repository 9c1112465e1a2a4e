import type { Overview } from '../../schema/contract.ts';
import type { Read } from '../contract.ts';
import { isMatchAll } from '../parse/conjunction.ts';
import { objectSql } from './json-object.ts';
import { objectMembers } from './rows.ts';
import { StatementBuilder } from './statement.ts';
import { whereSql } from './where.ts';

/**
 * The object that a read of one row shows, of the row under a table alias, as JSON text: for a statement that has just written the
 * row. Undefined where the caller does not see every row, or the object has more in it than columns of the row.
 */
export function returningSql(read: Read, schema: Overview, alias: string): string | undefined {
  const { aggregate, meta, pick, rule, search } = read;
  const isOfEveryRow = (rule === undefined || isMatchAll(rule)) && search === null && !aggregate && meta.length === 0;
  if (!isOfEveryRow || !pick.every(isPlainColumn)) return undefined;
  const statement = new StatementBuilder(schema, whereSql);
  return `${objectSql(objectMembers(statement, alias, pick, []), statement.alias())}::text`;
}

const isPlainColumn = (pick: Read['pick'][number]): boolean => pick.kind === 'column' && !pick.fn && !pick.when;

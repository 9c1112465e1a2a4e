import type { Overview } from '../../schema/contract.ts';
import type { Read } from '../contract.ts';
import { isEverything } from '../parse/conjunction.ts';
import { objectSql } from './json-object.ts';
import { membersOf } from './rows.ts';
import { Statement } from './statement.ts';
import { whereSql } from './where.ts';

/**
 * The object that a read of one row shows, of the row under a table alias, as JSON text: for a statement that has just written the
 * row. Undefined where the caller does not see every row, or the object has more in it than columns of the row.
 */
export function ownRowSql(read: Read, overview: Overview, alias: string): string | undefined {
  const { aggregate, meta, pick, rule, search } = read;
  const isOfEveryRow = (rule === undefined || isEverything(rule)) && search === null && !aggregate && meta.length === 0;
  if (!isOfEveryRow || !pick.every(isColumn)) return undefined;
  const statement = new Statement(overview, whereSql);
  return `${objectSql(membersOf(statement, alias, pick, []), statement.alias())}::text`;
}

const isColumn = (pick: Read['pick'][number]): boolean => pick.kind === 'column' && !pick.fn && !pick.when;

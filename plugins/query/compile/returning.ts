import type { SchemaOverview } from '../../schema/contract.ts';
import type { ReadNode } from '../contract.ts';
import { isMatchAll } from '../parse/conjunction.ts';
import { CompilationState } from './compilation-state.ts';
import { renderJsonObjectSql } from './json-object.ts';
import { buildJsonObjectMembers } from './rows.ts';
import { whereSql } from './where.ts';

/**
 * SQL of the JSON text of the row `alias`, for the `returning` clause of the statement that writes it. Undefined when a row rule
 * applies, or when the object needs more than the columns of the row.
 */
export function returningRowJsonSql(read: ReadNode, schema: SchemaOverview, alias: string): string | undefined {
  const { aggregate, meta, projections: pick, rule, search } = read;
  const appliesToEveryRow =
    (rule === undefined || isMatchAll(rule)) && search === null && !aggregate && meta.length === 0;
  if (!appliesToEveryRow || !pick.every(isPlainColumn)) return undefined;
  const statement = new CompilationState(schema, whereSql);
  return `${renderJsonObjectSql(buildJsonObjectMembers(statement, alias, pick, []), statement.alias())}::text`;
}

const isPlainColumn = (pick: ReadNode['projections'][number]): boolean =>
  pick.kind === 'column' && !pick.fn && !pick.when;

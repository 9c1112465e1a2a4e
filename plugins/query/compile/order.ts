import type { OrderBy, OrderByRelation } from '../contract.ts';
import type { CompilationState } from './compilation-state.ts';
import { joinConditionsWithAnd, parenthesized, whereClause } from './conjunction.ts';
import { fieldReferenceSql } from './field-use.ts';
import { manyToAnyJoin, toManyJoin } from './joins.ts';
import { manyToOneJoin } from './many-to-one-join.ts';

export interface OrderTerm {
  readonly sql: string;
  readonly descending: boolean;
}

export const orderByClause = (terms: readonly OrderTerm[]): string =>
  terms.length === 0 ? '' : ` order by ${terms.map((one) => `${one.sql}${one.descending ? ' desc' : ''}`).join(', ')}`;

export const orderTerms = (
  statement: CompilationState,
  alias: string,
  order: readonly OrderBy[],
  joins: string[],
): readonly OrderTerm[] =>
  order.map((one) => ({ sql: orderValue(statement, alias, one, joins), descending: one.descending }));

/**
 * SQL of the value that a row is ordered by: behind a to-many relation the first value of the related rows, so that it counts
 * once.
 */
function orderValue(statement: CompilationState, alias: string, order: OrderBy, joins: string[]): string {
  const { path, use, descending } = order;
  let at = alias;
  for (const [depth, step] of path.entries()) {
    if (step.use.field.relation?.kind === 'many') {
      return firstRelatedValue(statement, at, step, { path: path.slice(depth + 1), use, descending });
    }
    at = joinRelated(statement, at, step, joins);
  }
  return fieldReferenceSql(statement, at, use);
}

function joinRelated(statement: CompilationState, at: string, step: OrderByRelation, joins: string[]): string {
  const joined = statement.alias();
  const link = step.by
    ? manyToAnyJoin(joined, step.to, at, fieldReferenceSql(statement, at, step.use), step.by)
    : manyToOneJoin(statement, joined, step.to, at, step.use);
  const rule = parenthesized(step.rule && statement.where(joined, step.rule));
  joins.push(` left join ${statement.table(step.to.table)} ${joined} on ${joinConditionsWithAnd([link, rule])}`);
  return joined;
}

function firstRelatedValue(statement: CompilationState, at: string, step: OrderByRelation, rest: OrderBy): string {
  const child = statement.alias();
  const link = toManyJoin(statement, step.use, step.to);
  if (!link) return 'null';
  const below: string[] = [];
  const value = orderValue(statement, child, rest, below);
  const when = parenthesized(step.use.when && statement.where(at, step.use.when));
  const rule = parenthesized(step.rule && statement.where(child, step.rule));
  const from = `${statement.table(step.to.table)} ${child}${below.join('')}`;
  const where = whereClause([link(child, at), when, rule]);
  return `(select ${value} from ${from}${where} order by 1${rest.descending ? ' desc' : ''} limit 1)`;
}

import type { Order, OrderStep } from '../contract.ts';
import { conjunction, whereClause, wrapped } from './conjunction.ts';
import { anyLink, childLink } from './links.ts';
import { operandSql } from './operand.ts';
import { type Statement, tableOf } from './statement.ts';
import { toOneLink } from './to-one-link.ts';

export interface Term {
  readonly sql: string;
  readonly descending: boolean;
}

export const orderBy = (terms: readonly Term[]): string =>
  terms.length === 0 ? '' : ` order by ${terms.map((one) => `${one.sql}${one.descending ? ' desc' : ''}`).join(', ')}`;

export const orderTerms = (
  statement: Statement,
  alias: string,
  order: readonly Order[],
  joins: string[],
): readonly Term[] =>
  order.map((one) => ({ sql: orderValue(statement, alias, one, joins), descending: one.descending }));

/** What a row is ordered by. Behind a to-many it is the first of its rows in that order, so that each row counts once. */
function orderValue(statement: Statement, alias: string, order: Order, joins: string[]): string {
  const { path, use, descending } = order;
  let at = alias;
  for (const [depth, step] of path.entries()) {
    if (step.use.field.relation?.kind === 'many') {
      return firstBehind(statement, at, step, { path: path.slice(depth + 1), use, descending });
    }
    at = joinStep(statement, at, step, joins);
  }
  return operandSql(statement, at, use);
}

function joinStep(statement: Statement, at: string, step: OrderStep, joins: string[]): string {
  const joined = statement.alias();
  const link = step.by
    ? anyLink(joined, step.to, at, operandSql(statement, at, step.use), step.by)
    : toOneLink(statement, joined, step.to, at, step.use);
  const rule = wrapped(step.rule && statement.where(joined, step.rule));
  joins.push(` left join ${tableOf(step.to.table)} ${joined} on ${conjunction([link, rule])}`);
  return joined;
}

function firstBehind(statement: Statement, at: string, step: OrderStep, rest: Order): string {
  const child = statement.alias();
  const link = childLink(statement, step.use, step.to);
  if (!link) return 'null';
  const below: string[] = [];
  const value = orderValue(statement, child, rest, below);
  const when = wrapped(step.use.when && statement.where(at, step.use.when));
  const rule = wrapped(step.rule && statement.where(child, step.rule));
  const from = `${tableOf(step.to.table)} ${child}${below.join('')}`;
  const where = whereClause([link(child, at), when, rule]);
  return `(select ${value} from ${from}${where} order by 1${rest.descending ? ' desc' : ''} limit 1)`;
}

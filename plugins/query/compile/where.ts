import type { ConditionTree } from '../contract.ts';
import { comparisonField, filterTestSql, jsonTestSql } from './comparison.ts';
import type { CompilationState } from './compilation-state.ts';
import { compositeKeyFilterSql } from './composite-key-filter.ts';
import { joinConditionsWithAnd, whereClause } from './conjunction.ts';
import { fieldReferenceSql } from './field-use.ts';
import { rewriteRelatedKeyCondition } from './foreign-key-rewrite.ts';
import { manyToAnyJoin, toManyJoin } from './joins.ts';
import { manyToOneJoin } from './many-to-one-join.ts';
import { callerValueNotNullSql } from './operand-sql.ts';
import { reachableSql } from './reachable.ts';

/** A condition on the row `alias`; `true` when it always holds. */
export function whereSql(statement: CompilationState, alias: string, where: ConditionTree): string {
  switch (where.kind) {
    case 'fixed':
      return String(where.value);
    case 'and':
      return where.of.length === 0 ? 'true' : where.of.map((one) => bracketed(statement, alias, one)).join(' and ');
    case 'or':
      return where.of.length === 0 ? 'true' : where.of.map((one) => bracketed(statement, alias, one)).join(' or ');
    case 'test':
      return where.use.field.parts
        ? compositeKeyFilterSql(statement, alias, where)
        : filterTestSql(statement, fieldReferenceSql(statement, alias, where.use), where);
    case 'one':
      return oneSql(statement, alias, where);
    case 'many':
      return manySql(statement, alias, where);
    case 'any':
      return anySql(statement, alias, where);
    case 'inside':
      return jsonTestSql(statement, alias, where);
    case 'reachable':
      return reachableSql(statement, alias, where);
  }
}

const bracketed = (statement: CompilationState, alias: string, where: ConditionTree): string => {
  const sql = whereSql(statement, alias, where);
  return where.kind === 'or' || where.kind === 'and' ? `(${sql})` : sql;
};

function oneSql(statement: CompilationState, alias: string, where: Extract<ConditionTree, { kind: 'one' }>): string {
  const { use, to } = where;
  if (!to.table) return 'false';
  const own = rewriteRelatedKeyCondition(where);
  if (own) return bracketed(statement, alias, own);
  const inner = statement.alias();
  const joined = manyToOneJoin(statement, inner, to, alias, use);
  const rule = where.rule ? bracketed(statement, inner, where.rule) : undefined;
  const from = `select 1 from ${statement.table(to.table)} ${inner}`;
  const some = `exists (${from}${whereClause([joined, rule, bracketed(statement, inner, where.where)])})`;
  const ofMissing = onRowOfNullsSql(statement, where.where);
  if (ofMissing === 'false') return some;
  const missing = joinConditionsWithAnd([`not exists (${from}${whereClause([joined, rule])})`, ofMissing]);
  return `(${some} or ${missing})`;
}

/**
 * The condition as it holds for a row of nulls, which stands for the related row of a many-to-one when it is missing or hidden:
 * `true`, `false`, or a condition on the caller.
 */
function onRowOfNullsSql(statement: CompilationState, where: ConditionTree): string {
  switch (where.kind) {
    case 'fixed':
      return String(where.value);
    case 'and': {
      const mark = statement.params.length;
      const parts = where.of.map((one) => onRowOfNullsSql(statement, one)).filter((one) => one !== 'true');
      if (!parts.includes('false')) return parts.join(' and ') || 'true';
      // PostgreSQL refuses a parameter that the statement does not contain, so unused ones are removed.
      statement.params.length = mark;
      return 'false';
    }
    case 'or': {
      const mark = statement.params.length;
      const parts = where.of.map((one) => onRowOfNullsSql(statement, one)).filter((one) => one !== 'false');
      if (parts.includes('true') || where.of.length === 0) {
        statement.params.length = mark;
        return 'true';
      }
      return parts.length === 0 ? 'false' : `(${parts.join(' or ')})`;
    }
    case 'one':
      return onRowOfNullsSql(statement, where.where);
    case 'many':
      return where.quantifier === 'none' ? callerPresentSql(statement, where.where).join(' and ') || 'true' : 'false';
    case 'any':
    case 'reachable':
      return 'false';
    case 'inside':
    case 'test': {
      const [flag] = where.values;
      if (where.kind === 'test' && where.use.fn?.name === 'count') return 'false';
      if (where.operator === '_null' || where.operator === '_empty') return String(flag === true);
      if (where.operator === '_nnull' || where.operator === '_nempty') return String(flag === false);
      return 'false';
    }
  }
}

function manySql(statement: CompilationState, alias: string, where: Extract<ConditionTree, { kind: 'many' }>): string {
  const { use, to } = where;
  const link = toManyJoin(statement, use, to);
  if (!link || !to.table) return where.quantifier === 'none' ? 'true' : 'false';
  const inner = statement.alias();
  const when = use.when ? bracketed(statement, alias, use.when) : undefined;
  const rule = where.rule ? bracketed(statement, inner, where.rule) : undefined;
  const inside = bracketed(statement, inner, where.where);
  const sql = `exists (select 1 from ${statement.table(to.table)} ${inner}${whereClause([link(inner, alias), when, rule, inside])})`;
  if (where.quantifier === 'some') return sql;
  // `_none` with `$CURRENT_USER` or `$CURRENT_ROLE` must not match for a caller without a user or role.
  return [`not ${sql}`, ...callerPresentSql(statement, where.where)].join(' and ');
}

function anySql(
  statement: CompilationState,
  alias: string,
  { use, by, to, rule, where }: Extract<ConditionTree, { kind: 'any' }>,
): string {
  if (!to.table) return 'false';
  const inner = statement.alias();
  const link = manyToAnyJoin(inner, to, alias, fieldReferenceSql(statement, alias, use), by);
  const conditions = [link, rule && bracketed(statement, inner, rule), bracketed(statement, inner, where)];
  return `exists (select 1 from ${statement.table(to.table)} ${inner}${whereClause(conditions)})`;
}

/** The conditions that the caller has each user or role value that `where` compares with, at any depth. */
function callerPresentSql(statement: CompilationState, where: ConditionTree): readonly string[] {
  switch (where.kind) {
    case 'fixed':
    case 'reachable':
      return [];
    case 'and':
    case 'or':
      return where.of.flatMap((one) => callerPresentSql(statement, one));
    case 'one':
    case 'many':
    case 'any':
      return callerPresentSql(statement, where.where);
    case 'inside':
    case 'test':
      return where.values.flatMap((value) => callerValueNotNullSql(statement, comparisonField(where), value));
  }
}

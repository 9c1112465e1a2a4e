import type { Collection, Field } from '../../schema/contract.ts';
import type { FieldUse, Where } from '../contract.ts';
import { targetField } from '../parse/scope.ts';
import { testSql } from './comparison.ts';
import { columnOf, quote, type Statement, tableOf } from './statement.ts';
import { known } from './values.ts';

/** A condition over the row `alias`; `true` for one that holds always. */
export function whereSql(statement: Statement, alias: string, where: Where): string {
  switch (where.kind) {
    case 'fixed':
      return String(where.value);
    case 'all':
      return where.of.length === 0 ? 'true' : where.of.map((one) => bracketed(statement, alias, one)).join(' and ');
    case 'either':
      return where.of.length === 0 ? 'true' : where.of.map((one) => bracketed(statement, alias, one)).join(' or ');
    case 'test':
      return testSql(statement, operandSql(statement, alias, where.use), where);
    case 'one':
      return oneSql(statement, alias, where);
    case 'many':
      return manySql(statement, alias, where);
  }
}

const bracketed = (statement: Statement, alias: string, where: Where): string => {
  const sql = whereSql(statement, alias, where);
  return where.kind === 'either' || where.kind === 'all' ? `(${sql})` : sql;
};

/** The conditions joined by `and`, with what holds always left out; empty when nothing is left. */
export const conjunction = (conditions: readonly (string | undefined)[]): string =>
  conditions.filter((one) => one !== undefined && one !== 'true').join(' and ');

export const whereClause = (conditions: readonly (string | undefined)[]): string => {
  const sql = conjunction(conditions);
  return sql === '' ? '' : ` where ${sql}`;
};

/** The left side: the column, or null on rows where the caller may not see it. */
export function operandSql(statement: Statement, alias: string, { field, when }: FieldUse): string {
  const column = columnOf(alias, field);
  return when ? `(case when ${whereSql(statement, alias, when)} then ${column} end)` : column;
}

function oneSql(statement: Statement, alias: string, where: Extract<Where, { kind: 'one' }>): string {
  const { use, to } = where;
  if (!to.table) return 'false';
  const inner = statement.alias();
  const joined = `${columnOf(inner, targetField(use.field, to))} = ${operandSql(statement, alias, use)}`;
  const rule = where.rule ? bracketed(statement, inner, where.rule) : undefined;
  const from = `select 1 from ${tableOf(to.table)} ${inner}`;
  const some = `exists (${from}${whereClause([joined, rule, bracketed(statement, inner, where.where)])})`;
  const ofMissing = ofNulls(statement, where.where);
  if (ofMissing === 'false') return some;
  const missing = conjunction([`not exists (${from}${whereClause([joined, rule])})`, ofMissing]);
  return `(${some} or ${missing})`;
}

/**
 * What this says of a row of nulls, which is what a many-to-one without a readable target counts as: `true`, `false`, or
 * a condition on the caller.
 */
function ofNulls(statement: Statement, where: Where): string {
  switch (where.kind) {
    case 'fixed':
      return String(where.value);
    case 'all': {
      const mark = statement.params.length;
      const parts = where.of.map((one) => ofNulls(statement, one)).filter((one) => one !== 'true');
      if (!parts.includes('false')) return parts.join(' and ') || 'true';
      // A parameter that stands nowhere in the statement is an error.
      statement.params.length = mark;
      return 'false';
    }
    case 'either': {
      const mark = statement.params.length;
      const parts = where.of.map((one) => ofNulls(statement, one)).filter((one) => one !== 'false');
      if (parts.includes('true') || where.of.length === 0) {
        statement.params.length = mark;
        return 'true';
      }
      return parts.length === 0 ? 'false' : `(${parts.join(' or ')})`;
    }
    case 'one':
      return ofNulls(statement, where.where);
    case 'many':
      return where.quantifier === 'none' ? unknowable(statement, where.where).join(' and ') || 'true' : 'false';
    case 'test': {
      const [flag] = where.values;
      if (where.operator === '_null' || where.operator === '_empty') return String(flag === true);
      if (where.operator === '_nnull' || where.operator === '_nempty') return String(flag === false);
      return 'false';
    }
  }
}

function manySql(statement: Statement, alias: string, where: Extract<Where, { kind: 'many' }>): string {
  const { use, to } = where;
  const children = childrenOf(statement, use.field, to);
  if (!children || !to.table) return where.quantifier === 'none' ? 'true' : 'false';
  const inner = statement.alias();
  const joined = `${inner}.${children.key} = ${alias}.${children.parent}`;
  const when = use.when ? bracketed(statement, alias, use.when) : undefined;
  const rule = where.rule ? bracketed(statement, inner, where.rule) : undefined;
  const sql = `exists (select 1 from ${tableOf(to.table)} ${inner}${whereClause([joined, when, rule, bracketed(statement, inner, where.where)])})`;
  if (where.quantifier === 'some') return sql;
  // "None of them is mine" says nothing where there is no "me": what compares with nothing matches no row here either.
  return [`not ${sql}`, ...unknowable(statement, where.where)].join(' and ');
}

/** The conditions that the user or role a condition speaks of, at any depth, is there. */
function unknowable(statement: Statement, where: Where): readonly string[] {
  switch (where.kind) {
    case 'fixed':
      return [];
    case 'all':
    case 'either':
      return where.of.flatMap((one) => unknowable(statement, one));
    case 'one':
    case 'many':
      return unknowable(statement, where.where);
    case 'test':
      return where.values.flatMap((value) => known(statement, where.use.field, value));
  }
}

/** The quoted columns that tie a to-many alias to its rows: the children's key and what it points at. */
export function childrenOf(
  statement: Statement,
  field: Field,
  to: Collection,
): { key: string; parent: string } | undefined {
  if (field.relation?.kind !== 'many') return undefined;
  const { relation } = field.relation;
  const key = to.fields.get(relation.field)?.column?.name;
  const owner = statement.overview.collections.get(field.collection);
  const parent =
    relation.schema?.foreign_key_column ?? (owner?.primary ? owner.fields.get(owner.primary)?.column?.name : undefined);
  return key && parent ? { key: quote(key), parent: quote(parent) } : undefined;
}

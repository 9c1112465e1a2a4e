import type { FieldReference } from '../contract.ts';
import { type CompilationState, fieldColumnSql } from './compilation-state.ts';
import { functionSql } from './function.ts';

/** The left side of a comparison: the column or a function of it, or null on rows where the caller may not read the field. */
export function fieldReferenceSql(statement: CompilationState, alias: string, use: FieldReference): string {
  const { field, fn, when } = use;
  // The condition is compiled first, since its parameters come first in the text.
  const visible = when && statement.where(alias, when);
  const value = fn ? functionSql(statement, alias, { ...use, fn }) : fieldColumnSql(alias, field);
  return visible ? `(case when ${visible} then ${value} end)` : value;
}

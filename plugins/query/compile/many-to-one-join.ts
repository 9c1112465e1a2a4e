import type { Collection } from '../../schema/contract.ts';
import type { FieldReference } from '../contract.ts';
import { manyToOneTargetField } from '../parse/parse-context.ts';
import { type CompilationState, fieldColumnSql } from './compilation-state.ts';
import { fieldReferenceSql } from './field-use.ts';
import { fieldsEqualSql } from './key.ts';

/** The join condition of the many-to-one `use` of the row `alias` with the row `joined` of `to`. */
export function manyToOneJoin(
  statement: CompilationState,
  joined: string,
  to: Collection,
  alias: string,
  use: Pick<FieldReference, 'field' | 'when'>,
): string {
  const target = manyToOneTargetField(use.field, to);
  if (!use.field.parts) return `${fieldColumnSql(joined, target)} = ${fieldReferenceSql(statement, alias, use)}`;
  const when = use.when && `(${statement.where(alias, use.when)})`;
  const link = fieldsEqualSql(joined, target, alias, use.field);
  return when ? `${when} and ${link}` : link;
}

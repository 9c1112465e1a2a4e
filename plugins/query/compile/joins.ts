import { quoteLiteral } from '../../database/library.ts';
import type { Collection, Field } from '../../schema/contract.ts';
import type { FieldReference } from '../contract.ts';
import { manyToOneTargetField } from '../parse/parse-context.ts';
import { type CompilationState, fieldColumnSql, quoteIdentifierCached } from './compilation-state.ts';
import { fieldsEqualSql } from './key.ts';

/**
 * Builds the join condition between the rows of a to-many field and their parent row; undefined when there is no key to join by.
 */
export function toManyJoin(
  { schema }: CompilationState,
  { field }: Pick<FieldReference, 'field'>,
  to: Collection,
): ((child: string, parent: string) => string) | undefined {
  if (field.relation?.kind !== 'many') return undefined;
  const { relation } = field.relation;
  const far = to.fields.get(relation.field);
  const owner = schema.collections.get(field.collection);
  const key = owner?.hasKey ? owner.key : null;
  if (far?.relation?.kind === 'any' && far.column && key) {
    const by = to.fields.get(far.relation.collectionField);
    if (!by?.column) return undefined;
    return (child, parent) =>
      `${fieldColumnSql(child, by)} = ${quoteLiteral(field.collection)} and ${fieldColumnSql(child, far)}::text = ${fieldColumnSql(parent, key)}::text`;
  }
  if (far?.parts) return key?.parts && ((child, parent) => fieldsEqualSql(child, far, parent, key));
  const above = relation.schema?.foreign_key_column ?? key?.column?.name;
  if (!far?.column || !above) return undefined;
  return (child, parent) => `${fieldColumnSql(child, far)} = ${parent}.${quoteIdentifierCached(above)}`;
}

const KEY_PATTERNS: Partial<Readonly<Record<Field['type'], string>>> = {
  integer: '^-?[0-9]{1,18}$',
  bigInteger: '^-?[0-9]{1,18}$',
  uuid: '^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$',
};

/**
 * The join condition of a many-to-any of the row `alias` with the row `joined` of `to`. The stored key is text. For whole numbers
 * and uuids it is cast to the type of the key, so that PostgreSQL uses its index, but only a text of the right form on a row that
 * refers to `to`.
 */
export function manyToAnyJoin(joined: string, to: Collection, alias: string, value: string, by: Field): string {
  const key = manyToOneTargetField({ relation: null } as Field, to);
  const shape = KEY_PATTERNS[key.type];
  const is = `${fieldColumnSql(alias, by)} = ${quoteLiteral(to.name)}`;
  if (!shape) return `${is} and ${fieldColumnSql(joined, key)}::text = ${value}::text`;
  const type = key.type === 'uuid' ? 'uuid' : 'int8';
  return `${fieldColumnSql(joined, key)} = case when ${is} and ${value}::text ~ '${shape}' then ${value}::text::${type} end`;
}

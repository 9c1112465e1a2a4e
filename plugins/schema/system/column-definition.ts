import { quoteIdentifier } from '../../database/library.ts';
import { renderColumnType } from '../column-type-sql.ts';
import type { SystemField } from '../contract.ts';

/** Renders `"name" type default … not null`, the column of a declared field; undefined for a field without a column. */
export function renderColumnDefinition(field: SystemField): string | undefined {
  if (field.type === 'alias') return undefined;
  const serial = field.autoIncrement ? (field.type === 'bigInteger' ? 'bigserial' : 'serial') : undefined;
  const fallback =
    field.default ?? (field.primary && field.special?.includes('uuid') ? 'gen_random_uuid()' : undefined);
  return [
    quoteIdentifier(field.field),
    serial ?? renderColumnType(field.type, { maxLength: field.maxLength }),
    ...(fallback && !serial ? [`default ${fallback}`] : []),
    ...(isNullableSystemField(field) ? [] : ['not null']),
  ].join(' ');
}

/** Declared fields are `not null` unless `nullable` is true; keys always are. */
export const isNullableSystemField = (field: SystemField): boolean => !field.primary && field.nullable === true;

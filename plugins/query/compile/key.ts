import { quoteIdentifier } from '../../database/library.ts';
import type { Field } from '../../schema/contract.ts';

// SQL of keys of one column and of composite keys. A composite key is a text (`key-text.ts`) as a value; conditions compare its
// columns, so that PostgreSQL uses indexes.

type ColumnSql = (alias: string, column: string) => string;

/** Types whose texts contain neither a comma nor `~`, so they need no escape. */
const UNESCAPED: ReadonlySet<string> = new Set([
  'integer',
  'bigInteger',
  'decimal',
  'float',
  'uuid',
  'boolean',
  'date',
]);

const ISO = `YYYY-MM-DD"T"HH24:MI:SS.US`;

const columnSql: ColumnSql = (alias, name) => `${alias}.${quoteIdentifier(name)}`;

const columnName = (part: Field): string => (part.column as { name: string }).name;

/** The columns of a field in the row `alias`: one, or several for a field with `parts`. */
export const fieldColumnListSql = (alias: string, field: Field): readonly string[] =>
  (field.parts ?? [field]).map((part) => columnSql(alias, columnName(part)));

/** The text of a composite key in the row `alias`; null when one of its columns is null. */
export const keyTextSql = (alias: string, parts: readonly Field[]): string =>
  `(${parts.map((part) => partTextSql(columnSql(alias, columnName(part)), part)).join(` || ',' || `)})`;

/** The text of one column in a key text. Timestamps have microseconds, so that different keys have different texts. */
function partTextSql(value: string, { type }: Field): string {
  if (type === 'timestamp') return `coalesce(to_char(${value} at time zone 'UTC', '${ISO}"Z"'), ${value}::text)`;
  if (type === 'dateTime') return `coalesce(to_char(${value}, '${ISO}'), ${value}::text)`;
  return UNESCAPED.has(type) ? `${value}::text` : `replace(replace(${value}::text, '~', '~0'), ',', '~1')`;
}

/** SQL of the values of the columns of `parts` in a key text. */
const partValuesSql = (text: string, parts: readonly Field[]): readonly string[] =>
  parts.map((part, at) => {
    const piece = `split_part(${text}, ',', ${at + 1})`;
    const plain = UNESCAPED.has(part.type) ? piece : `replace(replace(${piece}, '~1', ','), '~0', '~')`;
    return `${plain}::${part.column?.sqlType ?? 'text'}`;
  });

/** The condition that the field of the row `alias` equals `value`, which for a field with `parts` is SQL of a valid key text. */
export function keyEqualsSql(alias: string, field: Field, value: string): string {
  if (!field.parts) return `${columnSql(alias, columnName(field))} = ${value}`;
  const values = partValuesSql(value, field.parts);
  return fieldColumnListSql(alias, field)
    .map((one, at) => `${one} = ${values[at]}`)
    .join(' and ');
}

/** The condition that the field equals one of the values of `list`, which is SQL of an array. */
export function keyInSql(alias: string, field: Field, list: string): string {
  if (!field.parts) return `${columnSql(alias, columnName(field))} = any(${list})`;
  return `(${fieldColumnListSql(alias, field).join(', ')}) in (select ${partValuesSql('k.v', field.parts).join(', ')} from unnest(${list}) k(v))`;
}

/** The condition that two fields of the same number of columns are equal. */
export const fieldsEqualSql = (alias: string, field: Field, other: string, otherField: Field): string => {
  const others = fieldColumnListSql(other, otherField);
  return fieldColumnListSql(alias, field)
    .map((one, at) => `${one} = ${others[at]}`)
    .join(' and ');
};

import { quoteIdentifier, quoteLiteral } from '../database/library.ts';
import type { Collection, Field } from '../schema/contract.ts';
import { isSearchVector } from '../schema/library.ts';

type Expression = (alias: string, field: Field) => string;

/** The fields that revisions store. Search vectors repeat other fields, so no revision stores them. */
const historyFieldsOf = (collection: Collection): readonly Field[] =>
  [...collection.fields.values()].filter((field) => field.column !== null && !isSearchVector(field));

/**
 * Renders the SQL of the row `t` as JSON, like the API answers it without aliases: foreign keys as keys, secrets as the mask. The text
 * is that of an answer of the whole row, alias included, so that a writing statement finds that both are the same.
 */
export function renderRevisionDataSql(collection: Collection, expression: Expression): string {
  const shown = historyFieldsOf(collection).map(
    (field) => `${expression('t', field)} as ${quoteIdentifier(field.name)}`,
  );
  return `(select row_to_json(t1.*) from (select ${shown.join(', ')}) t1)`;
}

/**
 * Renders the SQL of a JSON text: the fields in which the row `t` differs from the row `b` before the change, with their new
 * values.
 */
export function renderRevisionDeltaSql(collection: Collection, sets: readonly Field[], expression: Expression): string {
  const parts = possiblyChangedFields(collection, sets).map((field) => {
    const name = quoteLiteral(`${JSON.stringify(field.name)}:`);
    return `case when ${renderFieldDiffers(field)} then ${name} || coalesce(to_json(${expression('t', field)})::text, 'null') end`;
  });
  if (parts.length === 0) return `'{}'::text`;
  // Not concat_ws: functions take at most a hundred arguments.
  return `'{' || array_to_string(array[${parts.join(', ')}], ',') || '}'`;
}

/**
 * The fields that an update may have changed: those it sets, generated columns, and all fields of a table with triggers
 * or rules.
 */
function possiblyChangedFields(collection: Collection, sets: readonly Field[]): readonly Field[] {
  const all = historyFieldsOf(collection);
  return collection.hasSideEffects ? all : all.filter((field) => sets.includes(field) || field.column?.generated);
}

/**
 * Column types that SQL can compare directly. Values of other types are compared as texts; some of those types have no equality.
 */
const COMPARABLE =
  /^(smallint|integer|bigint|real|double precision|boolean|uuid|text|character varying|date|jsonb|time.*)$/;

function renderFieldDiffers({ column }: Field): string {
  const { name, dataType, array } = column as NonNullable<Field['column']>;
  const cast = !array && COMPARABLE.test(dataType) ? '' : '::text';
  return `t.${quoteIdentifier(name)}${cast} is distinct from b.${quoteIdentifier(name)}${cast}`;
}

import type { Field } from '../../schema/contract.ts';
import type { DatePart, FieldReference } from '../contract.ts';
import { type CompilationState, fieldColumnSql } from './compilation-state.ts';
import { whereClause } from './conjunction.ts';
import { toManyJoin } from './joins.ts';
import { isInvalidJsonbSql } from './output.ts';

const PARTS: Partial<Readonly<Record<DatePart, string>>> = { weekday: 'dow' };

/** A function of a field of the row `alias`. The result is a whole number, except for `json`. */
export function functionSql(
  statement: CompilationState,
  alias: string,
  { field, fn }: FieldReference & { readonly fn: NonNullable<FieldReference['fn']> },
): string {
  const value = field.column ? fieldColumnSql(alias, field) : '';
  if (fn.name === 'json') return `(${jsonbSql(field, value)} #> ${statement.param(fn.path, 'text[]')})`;
  if (fn.name !== 'count') return datePartSql(field, fn.name, value);
  if (!fn.to && field.column?.array)
    return `case when ${value} is not null then coalesce(array_length(${value}, 1), 0) end`;
  if (!fn.to)
    return `case when jsonb_typeof(${jsonbSql(field, value)}) = 'array' then jsonb_array_length(${jsonbSql(field, value)}) end`;
  const child = statement.alias();
  const link = toManyJoin(statement, { field }, fn.to);
  if (!link || !fn.to.table) return '0';
  const rule = fn.rule && statement.where(child, fn.rule);
  const where = whereClause([link(child, alias), rule && `(${rule})`]);
  return `(select count(*) from ${statement.table(fn.to.table)} ${child}${where})`;
}

/** The value as `jsonb`. Arrays need `to_jsonb`; JSON that `jsonb` refuses is null. */
export function jsonbSql({ column }: Field, value: string): string {
  if (column?.array) return `to_jsonb(${value})`;
  if (column?.dataType === 'jsonb') return value;
  return `(case when ${isInvalidJsonbSql(`${value}::text`)} then null else ${value}::jsonb end)`;
}

/** Types with a time zone are extracted in UTC; a part of infinity is null. */
function datePartSql(field: Field, part: DatePart, value: string): string {
  const zoned = field.type === 'timestamp' || field.column?.dataType.includes('with time zone');
  const extract = `extract(${PARTS[part] ?? part} from ${zoned ? `${value} at time zone 'UTC'` : value})`;
  const whole = part === 'second' ? `floor(${extract})::int` : `${extract}::int`;
  return field.type === 'time' ? whole : `case when isfinite(${value}) then ${whole} end`;
}

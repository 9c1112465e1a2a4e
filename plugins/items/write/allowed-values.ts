import type { Field } from '../../schema/contract.ts';

/**
 * What a column accepts, as `extensions.allowed` has it: names of an enum, a form in words, a range, digits, or a
 * length.
 */
export type AllowedValues =
  | readonly string[]
  | string
  | { readonly min: string; readonly max: string }
  | { readonly precision: number; readonly scale: number }
  | { readonly max_length: number };

const FORM_TEXTS: Partial<Readonly<Record<Field['type'], string>>> = {
  boolean: 'true or false',
  integer: 'a whole number',
  bigInteger: 'a whole number',
  decimal: 'a number',
  float: 'a number',
  uuid: 'a UUID',
  date: 'a date such as 2026-01-31',
  dateTime: 'a date such as 2026-01-31T13:30:00',
  timestamp: 'a date such as 2026-01-31T13:30:00Z',
  time: 'a time such as 13:30:00',
  json: 'JSON without \\u0000',
};

const INTEGER_RANGES: Readonly<Record<string, readonly [min: string, max: string]>> = {
  smallint: ['-32768', '32767'],
  integer: ['-2147483648', '2147483647'],
  bigint: ['-9223372036854775808', '9223372036854775807'],
};

/** The form of the values of a field; undefined where its type has no form that a client understands. */
export const allowedValueFormatOf = ({ column, type }: Field): AllowedValues | undefined =>
  column?.enumValues ?? FORM_TEXTS[type];

/** The numbers that a field accepts; undefined where its type has no bounds. */
export function allowedNumberRangeOf({ column }: Field): AllowedValues | undefined {
  const range = INTEGER_RANGES[column?.dataType ?? ''];
  if (range) return { min: range[0], max: range[1] };
  if (column?.dataType !== 'numeric' || column.precision === null) return undefined;
  return { precision: column.precision, scale: column.scale ?? 0 };
}

/** The allowed values in words, for a message. */
export function renderAllowedValues(allowed: AllowedValues): string {
  if (typeof allowed === 'string') return allowed;
  if ('max_length' in allowed) return `at most ${allowed.max_length} characters`;
  if ('min' in allowed) return `${allowed.min} to ${allowed.max}`;
  if ('precision' in allowed) return `${allowed.precision} digits, ${allowed.scale} of them after the point`;
  const names = allowed.slice(0, 20).map((name) => `"${name}"`);
  return `one of ${names.join(', ')}${allowed.length > names.length ? ', …' : ''}`;
}

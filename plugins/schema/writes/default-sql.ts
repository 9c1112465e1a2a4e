import { quoteLiteral } from '../../database/library.ts';
import type { FieldType } from '../contract.ts';
import { createInvalidPayloadFailure } from './payload.ts';

const NUMBER_TYPES: readonly FieldType[] = ['integer', 'bigInteger', 'float', 'decimal'];
const TIME_TYPES: readonly FieldType[] = ['date', 'dateTime', 'timestamp', 'time'];
const NUMBER = /^[+-]?\d+(\.\d+)?(e[+-]?\d{1,3})?$/i;
/** SQL expressions that `default_value` may name; other texts become literals. */
const NOW = /^(now\(\)|current_timestamp)$/i;

/** Renders a default value of a column as SQL; null without a default. @throws INVALID_PAYLOAD */
export function renderDefaultSql(type: FieldType, value: unknown): string | null {
  if (value === null || value === undefined) return null;
  if (NUMBER_TYPES.includes(type)) {
    if (typeof value === 'boolean' || !NUMBER.test(String(value)))
      throw createInvalidPayloadFailure('"default_value" must be a number.');
    return String(value);
  }
  if (type === 'boolean') {
    if (!['true', 'false'].includes(String(value)))
      throw createInvalidPayloadFailure('"default_value" must be true or false.');
    return String(value);
  }
  if (type === 'json') return `${quoteDefault(JSON.stringify(value))}::jsonb`;
  if (type === 'csv' && Array.isArray(value)) return quoteDefault(value.map(String).join(','));
  if (typeof value === 'object') throw createInvalidPayloadFailure('"default_value" must be a single value.');
  const text = String(value);
  if (TIME_TYPES.includes(type) && NOW.test(text)) return 'CURRENT_TIMESTAMP';
  if (type === 'uuid' && text === 'gen_random_uuid()') return text;
  if (type === 'binary' || type.startsWith('geometry'))
    throw createInvalidPayloadFailure(`A field of type "${type}" cannot have a default.`);
  return quoteDefault(text);
}

function quoteDefault(text: string): string {
  if (text.includes('\0') || /(?<!\\)(\\\\)*\\u0000/.test(text))
    throw createInvalidPayloadFailure('"default_value" must not contain a NUL character.');
  return quoteLiteral(text);
}

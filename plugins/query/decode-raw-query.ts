import type { RawQuery } from './contract.ts';
import { parseNameListParameter } from './parse/raw-values.ts';

const LISTS = ['fields', 'sort', 'groupBy', 'meta'];
const OBJECTS = ['filter', 'deep', 'alias', 'aggregate'];
const NUMBERS = ['limit', 'offset', 'page'];

/**
 * Converts a query to the form of a `SEARCH` body: lists instead of commas, objects instead of JSON texts, numbers instead of
 * digits. Listeners get this form, so that they need not know the encoding. Malformed values are unchanged, and the parser
 * reports them.
 */
export function decodeRawQuery(raw: RawQuery): RawQuery {
  const read = (name: string, value: unknown): unknown => {
    if (typeof value !== 'string' || value === '') return value;
    if (LISTS.includes(name))
      return value.startsWith('[') ? parseJsonOrText(value) : parseNameListParameter(value, [name]);
    if (OBJECTS.includes(name)) return parseJsonOrText(value);
    return NUMBERS.includes(name) && /^-?\d{1,15}$/.test(value) ? Number(value) : value;
  };
  return Object.fromEntries(Object.entries(raw).map(([name, value]) => [name, read(name, value)]));
}

function parseJsonOrText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

import { isUuid } from '../database/library.ts';
import type { Field } from '../schema/contract.ts';
import { decodeBase64 } from './base64.ts';
import { joinCompositeKey, splitCompositeKey } from './key-text.ts';

const INT8 = 9_223_372_036_854_775_807n;
const INT4 = 2_147_483_647n;
const isInRange = (value: bigint, largest: bigint): boolean => value <= largest && value >= -largest - 1n;

const isInfinity = (text: string): boolean => /^-?infinity$/i.test(text);

/** Whether a date exists in the calendar: false for the 30th of February. */
const isCalendarDay = (text: string): boolean => {
  const day = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(day.getTime()) && day.toISOString().startsWith(text);
};

const SHAPES: Partial<Readonly<Record<Field['type'], (text: string) => boolean>>> = {
  uuid: isUuid,
  decimal: (text) => /^-?\d{1,100}(\.\d{1,100})?$/.test(text) || isInfinity(text) || text === 'NaN',
  date: (text) => (/^\d{4}-\d\d-\d\d$/.test(text) && isCalendarDay(text)) || isInfinity(text),
  integer: (text) => /^-?\d{1,19}$/.test(text) && isInRange(BigInt(text), INT4),
  bigInteger: (text) => /^-?\d{1,19}$/.test(text) && isInRange(BigInt(text), INT8),
};

/** A key in the type of its column; undefined for a value that cannot be the key of any row. */
export function parsePrimaryKeyValue(field: Field, raw: unknown): string | number | undefined {
  // JSON rounds larger integers to another number, which must not name the row of that number.
  const isExact = typeof raw === 'number' && (Number.isSafeInteger(raw) || !Number.isInteger(raw));
  const text = typeof raw === 'string' || isExact ? String(raw) : '';
  // `~` stands only in the escapes `~0` and `~1`.
  if (field.parts) return /~(?![01])/.test(text) ? undefined : parseCompositeKey(field.parts, splitCompositeKey(text));
  if (!(SHAPES[field.type]?.(text) ?? (text !== '' && !text.includes('\0')))) return undefined;
  if (field.type === 'binary') return toByteaText(text);
  // Trailing blanks of a `char(n)` are not part of the value.
  if (field.column?.dataType === 'character') return text.trimEnd();
  return field.type === 'integer' ? Number(text) : field.type === 'uuid' ? text.toLowerCase() : text;
}

/** Converts base64, as answers have it, to the text of PostgreSQL. */
const toByteaText = (text: string): string => {
  const bytes = text.startsWith('\\x') ? undefined : decodeBase64(text);
  return bytes ? `\\x${bytes.toString('hex')}` : text;
};

/** The normalized text of a composite key, equal to the one that `keyTextSql` makes. */
function parseCompositeKey(parts: readonly Field[], texts: readonly string[]): string | undefined {
  if (texts.length !== parts.length) return undefined;
  const values = parts.map((part, at) => parseKeyPart(part, texts[at] as string));
  return values.every((value) => value !== undefined) ? joinCompositeKey(values) : undefined;
}

function parseKeyPart(part: Field, text: string): string | undefined {
  const { type, column } = part;
  if (type === 'timestamp' || type === 'dateTime') return parseKeyTimestamp(text, type === 'timestamp');
  if (type === 'boolean') return text === 'true' || text === 'false' ? text : undefined;
  if (column?.enumValues && !column.enumValues.includes(text)) return undefined;
  // An empty text is a valid part of a composite key.
  if (text === '' && ['string', 'text'].includes(type)) return text;
  if (text === '' && type === 'binary') return toByteaText(text);
  const value = parsePrimaryKeyValue(part, text);
  return value === undefined ? undefined : type === 'bigInteger' ? String(BigInt(text)) : String(value);
}

const TIMESTAMP = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d)(?::(\d\d)(?:[.,](\d{1,6})\d*)?)?(Z|[+-]\d\d(?::?\d\d)?)?$/i;

/** A timestamp in microseconds, in the format of `keyTextSql`. Without a zone it is UTC. */
function parseKeyTimestamp(text: string, isZoned: boolean): string | undefined {
  if (/^-?infinity$/.test(text)) return text;
  const [whole, day, minute, second = '00', fraction = '', zone = ''] = TIMESTAMP.exec(text) ?? [];
  if (!whole) return undefined;
  const offset = /^[+-]\d\d$/.test(zone) ? `${zone}:00` : zone;
  const moment = new Date(`${day}T${minute}:${second}${isZoned && offset ? offset.toUpperCase() : 'Z'}`);
  if (Number.isNaN(moment.getTime())) return undefined;
  const seconds = moment.toISOString().slice(0, 19);
  return `${seconds}.${fraction.padEnd(6, '0')}${isZoned ? 'Z' : ''}`;
}

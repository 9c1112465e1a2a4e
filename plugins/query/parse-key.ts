import type { Field } from '../schema/contract.ts';
import { bytesOf } from './base64.ts';
import { joinKey, splitKey } from './key-text.ts';
import { isUuid } from './uuid.ts';

const INT8 = 9_223_372_036_854_775_807n;
const INT4 = 2_147_483_647n;
const isInRange = (value: bigint, largest: bigint): boolean => value <= largest && value >= -largest - 1n;

const isInfinity = (text: string): boolean => /^-?infinity$/i.test(text);

/** The thirtieth of February is none. */
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

/** A key as its column's type has it; undefined for what can be the key of no row. */
export function keyValue(field: Field, raw: unknown): string | number | undefined {
  // A number that JSON could not hold has become another one, and must not name that one's row.
  const isExact = typeof raw === 'number' && (Number.isSafeInteger(raw) || !Number.isInteger(raw));
  const text = typeof raw === 'string' || isExact ? String(raw) : '';
  // Each key has one text: a `~` that is none of its two signs is a mistake.
  if (field.parts) return /~(?![01])/.test(text) ? undefined : parseCompositeKey(field.parts, splitKey(text));
  if (!(SHAPES[field.type]?.(text) ?? (text !== '' && !text.includes('\0')))) return undefined;
  if (field.type === 'binary') return toByteaText(text);
  // Blanks at the end of a `char(n)` are no part of the value.
  if (field.column?.dataType === 'character') return text.trimEnd();
  return field.type === 'integer' ? Number(text) : field.type === 'uuid' ? text.toLowerCase() : text;
}

/** Answers have base64; statements have the text of PostgreSQL. */
const toByteaText = (text: string): string => {
  const bytes = text.startsWith('\\x') ? undefined : bytesOf(text);
  return bytes ? `\\x${bytes.toString('hex')}` : text;
};

/** The text of a key of several columns, in the one form that PostgreSQL makes of it too. */
function parseCompositeKey(parts: readonly Field[], texts: readonly string[]): string | undefined {
  if (texts.length !== parts.length) return undefined;
  const values = parts.map((part, at) => parseKeyPart(part, texts[at] as string));
  return values.every((value) => value !== undefined) ? joinKey(values) : undefined;
}

function parseKeyPart(part: Field, text: string): string | undefined {
  const { type, column } = part;
  if (type === 'timestamp' || type === 'dateTime') return parseKeyTimestamp(text, type === 'timestamp');
  if (type === 'boolean') return text === 'true' || text === 'false' ? text : undefined;
  if (column?.enumValues && !column.enumValues.includes(text)) return undefined;
  // An empty text is a value among others here.
  if (text === '' && ['string', 'text'].includes(type)) return text;
  if (text === '' && type === 'binary') return toByteaText(text);
  const value = keyValue(part, text);
  return value === undefined ? undefined : type === 'bigInteger' ? String(BigInt(text)) : String(value);
}

const MOMENT = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d)(?::(\d\d)(?:[.,](\d{1,6})\d*)?)?(Z|[+-]\d\d(?::?\d\d)?)?$/i;

/** To the microsecond, as `keyText` writes it. A moment without a zone is one of UTC. */
function parseKeyTimestamp(text: string, isZoned: boolean): string | undefined {
  if (/^-?infinity$/.test(text)) return text;
  const [whole, day, minute, second = '00', fraction = '', zone = ''] = MOMENT.exec(text) ?? [];
  if (!whole) return undefined;
  const offset = /^[+-]\d\d$/.test(zone) ? `${zone}:00` : zone;
  const moment = new Date(`${day}T${minute}:${second}${isZoned && offset ? offset.toUpperCase() : 'Z'}`);
  if (Number.isNaN(moment.getTime())) return undefined;
  const seconds = moment.toISOString().slice(0, 19);
  return `${seconds}.${fraction.padEnd(6, '0')}${isZoned ? 'Z' : ''}`;
}

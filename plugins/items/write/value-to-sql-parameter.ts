import { fail } from '#kernel';
import { isUuid } from '../../database/library.ts';
import { decodeBase64, parseGeoJson } from '../../query/library.ts';
import type { Field, FieldType } from '../../schema/contract.ts';
import type { Payload } from '../contract.ts';
import { allowedValueFormatOf, renderAllowedValues } from './allowed-values.ts';
import { fieldFailure } from './database-errors.ts';
import { prefixErrorPath, type RequestRowPath } from './row-path.ts';

/** The value of a parameter, and the type it is cast to. */
export interface StatementParameter {
  readonly value: unknown;
  readonly type: string;
}

const NUMBER = /^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d{1,3})?$/i;
const NOT_FINITE = /^(-?Infinity|NaN)$/;
const WHOLE = /^[+-]?\d+(\.0*)?$/;
const TIME = /^\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?([+-]\d{2}(:?\d{2})?|Z)?$/i;

const invalidValue = (field: Field, expected: string) =>
  fieldFailure('INVALID_PAYLOAD', `${field.name} must be ${expected}`, { name: field.collection }, field, expected);

/** A number beyond the safe range was already changed by JSON. */
const unsafeNumberFailure = (field: Field) =>
  fail('FAILED_VALIDATION', `${field.name} is too large for a JSON number: send it as a text.`, {
    field: field.name,
    path: [],
    type: 'unsafe',
  });

/**
 * Converts a value of a payload to a parameter that its column accepts.
 * @throws INVALID_PAYLOAD with the field for a value of the wrong type
 */
export function toSqlParameter(field: Field, value: unknown): StatementParameter {
  const type = field.column?.sqlType ?? 'text';
  return { type, value: value === null || value === undefined ? null : toColumnValue(field, value) };
}

/** Internal types of PostgreSQL, which no client can write. */
const INTERNAL_TYPES = /^(pg_node_tree|pg_ndistinct|pg_dependencies|pg_mcv_list|pg_brin_.*|gtsvector)$/;
/** The parameter of a row's field; an error has the path of the row in the request. */
export function toSqlParameterValue(field: Field, row: Payload, path: RequestRowPath = []): unknown {
  try {
    return toSqlParameter(field, row[field.name]).value;
  } catch (error) {
    throw prefixErrorPath(path, error);
  }
}

function toColumnValue(field: Field, value: unknown): unknown {
  if (INTERNAL_TYPES.test(field.column?.element?.dataType ?? field.column?.dataType ?? ''))
    throw invalidValue(field, `left out: PostgreSQL takes no value of the type ${field.column?.sqlType}`);
  if (field.column?.array) {
    if (!Array.isArray(value)) throw invalidValue(field, 'a list');
    return toListValue(field, field.column.element?.type ?? 'unknown', value);
  }
  switch (field.type) {
    case 'json':
      return JSON.stringify(value);
    case 'csv':
      return Array.isArray(value) ? value.map(String).join(',') : toText(field, value);
    case 'boolean':
      if (value === true || value === 'true' || value === 1 || value === '1') return true;
      if (value === false || value === 'false' || value === 0 || value === '0') return false;
      throw invalidValue(field, 'true or false');
    case 'integer':
    case 'bigInteger':
      if (!WHOLE.test(toText(field, value).trim())) throw invalidValue(field, 'a whole number');
      if (typeof value === 'number' && !Number.isSafeInteger(value)) throw unsafeNumberFailure(field);
      return toText(field, value).trim().replace(/\..*$/, '');
    case 'decimal':
    case 'float':
      // `Infinity` and `NaN` are accepted as texts, as a read answers them, so that a client can send a row back.
      if (field.type === 'float' && typeof value === 'string' && NOT_FINITE.test(value)) return value;
      if (!NUMBER.test(toText(field, value).trim())) throw invalidValue(field, 'a number');
      return assertRange(field, toText(field, value).trim());
    case 'binary':
      return toBytes(field, value);
    case 'uuid':
      if (!isUuid(toText(field, value))) throw invalidValue(field, 'a UUID');
      return value;
    case 'date':
    case 'dateTime':
    case 'timestamp':
      return toMoment(field, value);
    case 'time':
      if (!TIME.test(toText(field, value))) throw invalidValue(field, 'a time such as 13:30:00');
      return value;
    default:
      return field.type.startsWith('geometry') ? toGeometry(field, value) : assertLength(field, toText(field, value));
  }
}

/** Nested lists stay lists; only for JSON a list is an element. */
function toListValue(field: Field, type: FieldType, list: readonly unknown[]): readonly unknown[] {
  return list.map((one) => {
    if (one === null || one === undefined) return null;
    if (type === 'json') return JSON.stringify(one);
    if (Array.isArray(one)) return toListValue(field, type, one);
    return type === 'binary' ? toBytes(field, one) : one;
  });
}

function toBytes(field: Field, value: unknown): Buffer {
  const read = decodeBase64(toText(field, value));
  if (!read) throw invalidValue(field, field.column?.array ? 'a list of base64 texts' : 'a base64 text');
  return read;
}

function toGeometry(field: Field, value: unknown): unknown {
  try {
    return parseGeoJson(value, [field.name]);
  } catch {
    throw invalidValue(field, 'a GeoJSON geometry');
  }
}

function toMoment(field: Field, value: unknown): string {
  const text = toText(field, value).trim();
  if (/^-?infinity$/.test(text)) return text;
  if (!/^\d{4}/.test(text) || Number.isNaN(Date.parse(text)))
    throw invalidValue(field, String(allowedValueFormatOf(field)));
  return text;
}

function toText(field: Field, value: unknown): string {
  if (typeof value === 'object' || typeof value === 'function' || typeof value === 'symbol')
    throw invalidValue(field, 'a single value');
  return String(value);
}

/** The range is checked here because PostgreSQL does not say which column's precision was exceeded. */
function assertRange(field: Field, text: string): string {
  const { precision, scale } = field.column ?? {};
  const largest = 10 ** ((precision ?? 0) - (scale ?? 0)) - 0.5 * 10 ** -(scale ?? 0);
  if (field.type === 'decimal' && precision && Math.abs(Number(text)) >= largest) {
    const allowed = { precision, scale: scale ?? 0 };
    const reason = `${field.name} is out of range: ${renderAllowedValues(allowed)}.`;
    throw fieldFailure('VALUE_OUT_OF_RANGE', reason, { name: field.collection }, field, allowed);
  }
  return text;
}

/** The length is checked here because PostgreSQL does not say which column's length was exceeded. */
function assertLength(field: Field, text: string): string {
  const max = field.column?.maxLength;
  // A character has one or two code units, so most texts need not be counted.
  if (!max || field.type === 'hash' || text.length <= max) return text;
  const { length } = [...text];
  if (length > max) {
    const reason = `${field.name} has ${length} characters, more than the ${max} allowed.`;
    throw fieldFailure('VALUE_TOO_LONG', reason, { name: field.collection }, field, { max_length: max });
  }
  return text;
}

/** Types whose array elements are not separated by commas, which the driver always writes. */
const OTHER_DELIMITER = /^(box|.*\bgeometry|.*\bgeography)\[\]$/;

/** The SQL of one parameter: geometry as GeoJSON, everything else by a cast. */
export function renderParameterCastSql(field: Field, param: string): string {
  if (field.type.startsWith('geometry')) return `ST_SetSRID(ST_GeomFromGeoJSON(${param}::text), 4326)`;
  const type = field.column?.sqlType ?? 'text';
  return OTHER_DELIMITER.test(type) ? `${param}::text[]::${type}` : `${param}::${type}`;
}

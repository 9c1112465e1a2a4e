import { isUuid } from '../../database/library.ts';
import type { Column, Field, FieldType } from '../../schema/contract.ts';
import { isRangeColumn } from '../../schema/library.ts';
import { decodeBase64 } from '../base64.ts';
import type { FieldReference, FilterOperand, FilterOperator } from '../contract.ts';
import { toElementOrBoundField } from '../element-field.ts';
import { parsePrimaryKeyValue } from '../parse-key.ts';
import { NUMBER_TEXT_PATTERN } from '../placeholder.ts';
import { parseGeoJson } from './geojson.ts';
import { createInvalidQueryFailure, type QueryErrorPath } from './raw-values.ts';

const TIME = /^\d{2}:\d{2}(:\d{2}(\.\d+)?)?([+-]\d{2}(:?\d{2})?|Z)?$/i;
const CONTAINS: readonly FilterOperator[] = ['_contains', '_ncontains'];
const TEXTUAL = /^_(n?i?(contains|starts_with|ends_with)|n?ieq)$/;

/** The type that an operand is checked against. */
export interface OperandType {
  readonly type: FieldType;
  readonly column: Column | null;
  /** The operand is cast to the type of the column, which may be narrower than the field type. */
  readonly isElement?: true;
  /** The operand is the text of this composite key. */
  readonly key?: Field;
}

const TEXT: OperandType = { type: 'text', column: null };

export function operandType({ field, fn }: FieldReference, operator: FilterOperator): OperandType {
  if (fn) return { type: 'integer', column: null };
  if (field.parts) return { ...TEXT, key: field };
  if (field.column?.array || (isRangeColumn(field.column) && CONTAINS.includes(operator))) {
    const { type, column } = toElementOrBoundField(field);
    return { type: type.startsWith('geometry') ? 'text' : type, column, isElement: true };
  }
  return TEXTUAL.test(operator) ? TEXT : field;
}

/** Whether an operand is null. The text `null` counts as well, since a query string cannot contain null. */
export const isNullOperand = (raw: unknown): boolean => raw === null || raw === 'null' || raw === 'NULL';

/** Parses `true`, `false` and their texts. The empty text is true: it is the value of `filter[a][_null]` without one. */
export function parseBooleanOperand(raw: unknown, path: QueryErrorPath): boolean {
  if (raw === true || raw === 'true' || raw === '' || raw === null || raw === 1 || raw === '1') return true;
  if (raw === false || raw === 'false' || raw === 0 || raw === '0') return false;
  throw createInvalidQueryFailure('must be true or false', path);
}

/** Parses an operand that is neither dynamic nor a placeholder. */
export function parseLiteral(as: OperandType, raw: unknown, path: QueryErrorPath): FilterOperand {
  if (isNullOperand(raw)) return null;
  if (as.type.startsWith('geometry')) return parseGeoJson(raw, path);
  if (typeof raw === 'string' && raw.includes('\0'))
    throw createInvalidQueryFailure('must not contain a NUL character', path);
  if (as.key) return parseKeyLiteral(as.key, raw, path);
  if (as.type === 'json') return JSON.stringify(raw);
  if (typeof raw === 'object' || raw === undefined) throw createInvalidQueryFailure('must be a single value', path);
  return parseTypedLiteral(as, raw as string | number | boolean, path);
}

function parseKeyLiteral(field: Field, raw: unknown, path: QueryErrorPath): FilterOperand {
  const key = parsePrimaryKeyValue(field, raw);
  if (key === undefined)
    throw createInvalidQueryFailure(`is not a composite key of ${field.parts?.length} parts, joined by commas`, path);
  return key;
}

function parseTypedLiteral(as: OperandType, raw: string | number | boolean, path: QueryErrorPath): FilterOperand {
  const text = String(raw).trim();
  switch (as.type) {
    case 'integer':
    case 'bigInteger':
    case 'decimal':
    case 'float':
      return parseNumber(as, raw, text, path);
    case 'boolean':
      return parseBooleanOperand(raw, path);
    case 'uuid':
      if (!isUuid(text)) throw createInvalidQueryFailure(`"${text.slice(0, 40)}" is not a UUID`, path);
      return text;
    case 'date':
    case 'dateTime':
    case 'timestamp':
      if (!/^\d{4}/.test(text) || Number.isNaN(Date.parse(text)))
        throw createInvalidQueryFailure(`"${text.slice(0, 40)}" is not a date`, path);
      return text;
    case 'time':
      if (!TIME.test(text)) throw createInvalidQueryFailure(`"${text.slice(0, 40)}" is not a time`, path);
      return text;
    case 'binary': {
      const bytes = decodeBase64(text);
      if (!bytes) throw createInvalidQueryFailure(`"${text.slice(0, 40)}" is not base64`, path);
      return `\\x${bytes.toString('hex')}`;
    }
    default:
      return assertEnumValue(as, typeof raw === 'string' ? raw : text, path);
  }
}

function parseNumber(
  { type, column, isElement }: OperandType,
  raw: unknown,
  text: string,
  path: QueryErrorPath,
): string {
  if (typeof raw === 'number' && Number.isInteger(raw) && !Number.isSafeInteger(raw) && type !== 'float')
    throw createInvalidQueryFailure('is too large for a JSON number: send it as a text', path);
  if (typeof raw === 'boolean' || !NUMBER_TEXT_PATTERN.test(text))
    throw createInvalidQueryFailure(`"${text.slice(0, 40)}" is not a number`, path);
  if (isElement && (type === 'integer' || type === 'bigInteger')) assertWhole(column, text, path);
  return text;
}

const BITS: Readonly<Record<string, bigint>> = { smallint: 15n, integer: 31n, bigint: 63n };

/** Elements of integer arrays and ranges are compared in their own type, to which larger numbers and fractions have no cast. */
function assertWhole(column: Column | null, text: string, path: QueryErrorPath): void {
  if (!/^[+-]?\d+$/.test(text)) throw createInvalidQueryFailure(`"${text.slice(0, 40)}" is not a whole number`, path);
  const dataType = column?.dataType ?? 'bigint';
  const limit = 2n ** (BITS[dataType] ?? 63n);
  const value = text.length > 40 ? limit : BigInt(text);
  if (value >= limit || value < -limit)
    throw createInvalidQueryFailure(`"${text.slice(0, 40)}" is out of range for ${dataType}`, path);
}

const MAX_LISTED_VALUES = 20;

function assertEnumValue({ column }: OperandType, text: string, path: QueryErrorPath): string {
  const values = column?.enumValues;
  if (!values || values.includes(text)) return text;
  const more = values.length > MAX_LISTED_VALUES ? ', …' : '';
  throw createInvalidQueryFailure(
    `"${text.slice(0, 40)}" is not one of ${values.slice(0, MAX_LISTED_VALUES).join(', ')}${more}`,
    path,
  );
}

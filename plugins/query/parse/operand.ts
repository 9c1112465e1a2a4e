import type { FieldType } from '../../schema/contract.ts';
import type { Dynamic, FieldUse, Operator, Value } from '../contract.ts';
import { Given, NUMBER } from '../given.ts';
import { keyValue } from '../key-value.ts';
import type { Bound } from '../tree.ts';
import { isUuid } from '../uuid.ts';
import { dynamicValue } from './dynamic.ts';
import { geoJson } from './geojson.ts';
import type { Scope } from './scope.ts';
import { invalid, isObject, type Path } from './shape.ts';

const TIME = /^\d{2}:\d{2}(:\d{2}(\.\d+)?)?([+-]\d{2}(:?\d{2})?|Z)?$/i;
const LISTS: readonly Operator[] = ['_in', '_nin', '_between', '_nbetween'];
const FLAGS: readonly Operator[] = ['_null', '_nnull', '_empty', '_nempty'];

/** A query string has no other way to say it. */
export const isNull = (raw: unknown): boolean => raw === null || raw === 'null' || raw === 'NULL';

/** The right side of a comparison, checked against the type of the left one. `null` = the predicate drops out. */
export function operands(
  scope: Scope,
  use: FieldUse,
  operator: Operator,
  raw: unknown,
  path: Path,
): readonly Value[] | null {
  if (FLAGS.includes(operator)) return [flag(raw, path)];
  if (LISTS.includes(operator)) {
    if (raw instanceof Given && !operator.endsWith('between')) return [given(scope, raw, boundList(use, path), true)];
    const list = listOf(raw, path);
    if (operator.endsWith('between') && list.length !== 2) {
      if (scope.strict) throw invalid('must be two values', path);
      return null;
    }
    return list.map((entry, at) => operand(scope, use, entry, operator, [...path, at]));
  }
  if (raw === '') throw invalid('an empty text compares with nothing; use _empty', path);
  return [operand(scope, use, raw, operator, path)];
}

/** `true`, `false` and their texts; nothing at all is what `filter[a][_null]` without a value gives. */
export function flag(raw: unknown, path: Path): boolean {
  if (raw === true || raw === 'true' || raw === '' || raw === null || raw === 1 || raw === '1') return true;
  if (raw === false || raw === 'false' || raw === 0 || raw === '0') return false;
  throw invalid('must be true or false', path);
}

function listOf(raw: unknown, path: Path): readonly unknown[] {
  if (raw instanceof Given) throw invalid('must be two values', path);
  const list = Array.isArray(raw)
    ? raw
    : isObject(raw)
      ? Object.values(raw)
      : typeof raw === 'string'
        ? raw.split(',')
        : [raw];
  if (list.length === 0 || raw === '') throw invalid('must be a list with at least one value', path);
  return list;
}

function operand(scope: Scope, use: FieldUse, raw: unknown, operator: Operator, path: Path): Value {
  if (raw instanceof Given) return given(scope, raw, boundValue(use, path));
  if (typeof raw === 'string' && raw.startsWith('$') && !typeOf(use).startsWith('geometry')) {
    if (raw.includes('\0')) throw invalid('must not contain a NUL character', path);
    const dynamic: Dynamic | undefined = dynamicValue(scope, raw, path);
    if (dynamic && 'via' in dynamic && dynamic.via?.several && operator !== '_in' && operator !== '_nin')
      throw invalid(`${raw.slice(0, 60)} may be several values: compare with _in`, path);
    if (dynamic) return dynamic;
  }
  return plain(use, raw, path);
}

/**
 * Known when the statement runs. The value it is compiled for is checked here, so that it makes no difference which of several
 * values is the first, and all others when they come.
 */
function given(scope: Scope, { name, value }: Given, bind: (value: unknown) => Bound, list?: true): Value {
  bind(value);
  const at = scope.given.push((values) => bind(values[name])) - 1;
  return { dynamic: 'given', at, ...(list ? { list } : {}) };
}

// Remembered with statements, so these hold on to nothing but the field.
const boundValue =
  (use: FieldUse, path: Path) =>
  (value: unknown): Value =>
    plain(use, value, path);

const boundList =
  (use: FieldUse, path: Path) =>
  (value: unknown): readonly Value[] =>
    listOf(value, path).map((one, at) => plain(use, one, [...path, at]));

const typeOf = ({ field, fn }: FieldUse): FieldType => (fn ? 'integer' : field.type);

/** A value that is what it says. */
function plain(use: FieldUse, raw: unknown, path: Path): Value {
  const type = typeOf(use);
  if (isNull(raw)) return null;
  if (type.startsWith('geometry')) return geoJson(raw, path);
  if (use.field.parts) {
    const key = keyValue(use.field, raw);
    if (key === undefined) throw invalid(`is no key of ${use.field.parts.length} parts, joined by commas`, path);
    return key;
  }
  if (typeof raw === 'object' || raw === undefined) throw invalid('must be a single value', path);
  if (typeof raw === 'string' && raw.includes('\0')) throw invalid('must not contain a NUL character', path);
  return typed(type, raw as string | number | boolean, path);
}

function typed(type: FieldType, raw: string | number | boolean, path: Path): Value {
  const text = String(raw).trim();
  switch (type) {
    case 'integer':
    case 'bigInteger':
    case 'decimal':
    case 'float':
      if (typeof raw === 'number' && Number.isInteger(raw) && !Number.isSafeInteger(raw) && type !== 'float') {
        throw invalid('is too large for a JSON number: send it as a text', path);
      }
      if (typeof raw === 'boolean' || !NUMBER.test(text)) throw invalid(`"${text.slice(0, 40)}" is not a number`, path);
      return text;
    case 'boolean':
      return flag(raw, path);
    case 'uuid':
      if (!isUuid(text)) throw invalid(`"${text.slice(0, 40)}" is not a UUID`, path);
      return text;
    case 'date':
    case 'dateTime':
    case 'timestamp':
      if (!/^\d{4}/.test(text) || Number.isNaN(Date.parse(text)))
        throw invalid(`"${text.slice(0, 40)}" is not a date`, path);
      return text;
    case 'time':
      if (!TIME.test(text)) throw invalid(`"${text.slice(0, 40)}" is not a time`, path);
      return text;
    default:
      return typeof raw === 'string' ? raw : text;
  }
}

import type { Collection, Field } from '../../schema/contract.ts';
import { isSearchVector } from '../../schema/library.ts';
import type { FieldReference, ReadNode } from '../contract.ts';
import { assertNameBytes, parseFieldPathStep } from './path-steps.ts';
import {
  createInvalidQueryFailure,
  isObject,
  parseJsonParameter,
  parseNameListParameter,
  type QueryErrorPath,
} from './raw-values.ts';

const MAX_SEARCH_CHARACTERS = 2000;

export function parseSearch(raw: unknown, path: QueryErrorPath): string | null {
  if (raw === undefined || raw === null || raw === '') return null;
  if (typeof raw !== 'string' && typeof raw !== 'number') throw createInvalidQueryFailure('must be a text', path);
  const text = String(raw);
  if (text.includes('\0')) throw createInvalidQueryFailure('must not contain a NUL character', path);
  // PostgreSQL compares each row with the whole term, so that a long one would cost seconds.
  if (text.length > MAX_SEARCH_CHARACTERS)
    throw createInvalidQueryFailure(
      `has ${text.length} characters, more than the ${MAX_SEARCH_CHARACTERS} allowed`,
      path,
    );
  return text.trim() || text;
}

const SEARCHABLE_TYPES: readonly Field['type'][] = [
  'string',
  'text',
  'integer',
  'bigInteger',
  'decimal',
  'float',
  'uuid',
];

export const searchableFields = (collection: Collection): readonly FieldReference[] =>
  [...collection.fields.values()]
    .filter(
      (field) =>
        field.column &&
        !field.concealed &&
        (SEARCHABLE_TYPES.includes(field.type) || isSearchVector(field)) &&
        field.meta?.searchable !== false,
    )
    .map((field) => ({ field }));

export function parseMetaParameter(raw: unknown): ReadNode['meta'] {
  const all = ['total_count', 'filter_count'] as const;
  const names = parseNameListParameter(
    typeof raw === 'string' && raw.startsWith('[') ? parseJsonParameter(raw, ['meta']) : raw,
    ['meta'],
  );
  if (names.includes('*')) return all;
  return names.map((name) => {
    const known = all.find((one) => one === name);
    if (!known)
      throw createInvalidQueryFailure(`"${name.slice(0, 40)}" is neither total_count nor filter_count`, ['meta']);
    return known;
  });
}

/** Parses `alias[latest]=comments`: new names for fields and functions of fields. */
export function parseAliases(raw: unknown, path: QueryErrorPath): ReadonlyMap<string, string> {
  const aliases = parseJsonParameter(raw, path);
  if (aliases === undefined || aliases === null) return new Map();
  if (!isObject(aliases)) throw createInvalidQueryFailure('must be an object', path);
  return new Map(
    Object.entries(aliases).map(([key, name]) => {
      const at = [...path, key];
      if (typeof name !== 'string' || /[.():,*]/.test(key) || key.startsWith('-') || key === '')
        throw createInvalidQueryFailure('names a field without dots', at);
      const { field, fn, collection } = parseFieldPathStep(name, at);
      if (field.includes('.') || collection !== undefined || (!fn && /[()]/.test(name)))
        throw createInvalidQueryFailure('names a field without dots', at);
      if (key.includes('\0')) throw createInvalidQueryFailure('must not contain a NUL character', at);
      assertNameBytes(key, at);
      return [key, name];
    }),
  );
}

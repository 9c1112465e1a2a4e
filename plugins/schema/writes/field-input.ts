import type { FieldType } from '../contract.ts';
import { ALIAS_SPECIALS } from '../overview/fields.ts';
import { invalid, member, nameOf, objectOf, type Payload, part, typeOf } from './payload.ts';
import { type RowValues, rowValues } from './registry-row.ts';

/** A field to be made, checked as far as it can be by itself. */
export interface NewField {
  readonly name: string;
  readonly type: FieldType;
  readonly schema: Payload;
  /** Registry values; null where the field shall not be registered. */
  readonly row: RowValues | null;
}

/** Flags without which a text column would not read as the type asked for. */
const NEEDED: Partial<Record<FieldType, string>> = { hash: 'hash', csv: 'cast-csv', json: 'cast-json' };
const TYPE_FLAGS: readonly string[] = ['hash', 'cast-csv', 'csv', 'cast-json'];

export function newField(input: unknown): NewField {
  const payload = objectOf(input, 'A field');
  const name = nameOf(payload, 'field');
  const meta = part(payload, 'meta');
  const special = specialOf(meta) ?? [];
  const asked = typeOf(payload);
  const isAlias = special.some((flag) => ALIAS_SPECIALS.includes(flag));
  if (isAlias && asked !== undefined && asked !== 'alias')
    throw invalid(`Field "${name}" is an alias by "special" and cannot have a type.`);
  const type = asked ?? (isAlias ? 'alias' : undefined);
  if (!type) throw invalid(`"type" of field "${name}" is required.`);
  if (type === 'unknown') throw invalid('A column cannot have the type "unknown".');
  if (type === 'alias') {
    const row = rowValues('fields', meta ?? {});
    return { name, type, schema: {}, row: isAlias ? row : { ...row, special: [...special, 'alias'].join(',') } };
  }
  const flags = withTypeFlag(type, special);
  const registered = meta !== null || NEEDED[type] !== undefined;
  const row = { ...rowValues('fields', meta ?? {}), ...(flags.length > 0 ? { special: flags.join(',') } : {}) };
  return { name, type, schema: part(payload, 'schema') ?? {}, row: registered ? row : null };
}

export function specialOf(meta: Payload | null | undefined): readonly string[] | undefined {
  if (!meta || member(meta, 'special') === undefined) return undefined;
  const { special } = rowValues('fields', { special: meta.special });
  return special === null ? [] : String(special).split(',').filter(Boolean);
}

/** With the flag that this type rests on. */
export function withTypeFlag(type: FieldType, special: readonly string[]): readonly string[] {
  const needed = NEEDED[type];
  if (!needed || special.includes(needed) || (type === 'csv' && special.includes('csv'))) return special;
  return [needed, ...special];
}

/** Without those of another type. */
export const withoutTypeFlags = (special: readonly string[]): readonly string[] =>
  special.filter((flag) => !TYPE_FLAGS.includes(flag));

import type { FieldType } from '../contract.ts';
import { ALIAS_SPECIALS } from '../snapshot/fields.ts';
import {
  createInvalidPayloadFailure,
  ownPayloadMember,
  type Payload,
  parseCollectionOrFieldName,
  parseFieldTypeMember,
  parseObjectPayloadMember,
  requirePayloadObject,
} from './payload.ts';
import { parseRegistryMeta, type RegistryRowValues } from './registry-row.ts';

/** A validated request for a new field. */
export interface NewField {
  readonly name: string;
  readonly type: FieldType;
  readonly schema: Payload;
  /** Values of the registry row; null without one. */
  readonly row: RegistryRowValues | null;
  /** See `SchemaWriteDeps.exact`. */
  readonly exact?: boolean;
}

/** Values of `special` that a column needs to be read as this type. */
const REQUIRED_FLAGS: Partial<Record<FieldType, string>> = { hash: 'hash', csv: 'cast-csv', json: 'cast-json' };
const TYPE_FLAGS: readonly string[] = ['hash', 'cast-csv', 'csv', 'cast-json'];

export function parseNewField(input: unknown, exact = false): NewField {
  const payload = requirePayloadObject(input, 'A field');
  const name = parseCollectionOrFieldName(payload, 'field');
  const meta = parseObjectPayloadMember(payload, 'meta');
  const special = parseSpecial(meta) ?? [];
  const requestedType = parseFieldTypeMember(payload);
  const isAlias = special.some((flag) => ALIAS_SPECIALS.includes(flag));
  if (isAlias && requestedType !== undefined && requestedType !== 'alias')
    throw createInvalidPayloadFailure(`Field "${name}" is an alias by "special" and cannot have a type.`);
  const type = requestedType ?? (isAlias ? 'alias' : undefined);
  if (!type) throw createInvalidPayloadFailure(`"type" of field "${name}" is required.`);
  if (type === 'unknown') throw createInvalidPayloadFailure('A column cannot have the type "unknown".');
  if (type === 'alias') {
    const row = parseRegistryMeta('fields', meta ?? {});
    return { name, type, schema: {}, row: isAlias ? row : { ...row, special: [...special, 'alias'].join(',') } };
  }
  // A column of JSON is read as such without a flag.
  const needsFlag = REQUIRED_FLAGS[type] !== undefined && !(exact && type === 'json');
  const flags = needsFlag ? withTypeSpecial(type, special) : special;
  const isRegistered = meta !== null || needsFlag;
  const row = { ...parseRegistryMeta('fields', meta ?? {}), ...(flags.length > 0 ? { special: flags.join(',') } : {}) };
  return {
    name,
    type,
    schema: parseObjectPayloadMember(payload, 'schema') ?? {},
    row: isRegistered ? row : null,
    exact,
  };
}

export function parseSpecial(meta: Payload | null | undefined): readonly string[] | undefined {
  if (!meta || ownPayloadMember(meta, 'special') === undefined) return undefined;
  const { special } = parseRegistryMeta('fields', { special: meta.special });
  return special === null ? [] : String(special).split(',').filter(Boolean);
}

/** Adds the value of `special` that a column needs to be read as this type. */
export function withTypeSpecial(type: FieldType, special: readonly string[]): readonly string[] {
  const required = REQUIRED_FLAGS[type];
  if (!required || special.includes(required) || (type === 'csv' && special.includes('csv'))) return special;
  return [required, ...special];
}

/** Removes the values of `special` that belong to a type. */
export const withoutTypeSpecials = (special: readonly string[]): readonly string[] =>
  special.filter((flag) => !TYPE_FLAGS.includes(flag));

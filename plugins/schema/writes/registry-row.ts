import { fail } from '#kernel';
import { quoteIdentifier } from '../../database/library.ts';
import type { SystemCollection, SystemField } from '../contract.ts';
import { registryCollections } from '../system/registry-collections.ts';
import { createInvalidPayloadFailure, ownPayloadMember, type Payload } from './payload.ts';
import { quoteRegistryTable, type SchemaWriteDeps } from './write-deps-and-guards.ts';

/** A registry table without its prefix. */
export type RegistryTableName = 'collections' | 'fields' | 'relations';
/** Values of a registry row by column, ready to be parameters of a statement. */
export type RegistryRowValues = Readonly<Record<string, unknown>>;

const CHOICES: Readonly<Record<string, readonly unknown[]>> = {
  accountability: ['all', 'activity', null],
  one_deselect_action: ['nullify', 'delete'],
};

/** The columns that identify a registry row; `meta` never sets them. */
const KEY_COLUMNS: Readonly<Record<RegistryTableName, readonly string[]>> = {
  collections: ['collection'],
  fields: ['collection', 'field'],
  relations: ['many_collection', 'many_field'],
};

/** The declaration of a registry table. */
export const registryDeclarationOf = (name: RegistryTableName): SystemCollection =>
  registryCollections.find(({ collection }) => collection === `platform_${name}`) as SystemCollection;

/**
 * Parses the members of `meta` that are columns of a registry table; ignores other members.
 * @throws INVALID_PAYLOAD, VALUE_TOO_LONG
 */
export function parseRegistryMeta(name: RegistryTableName, meta: Payload): RegistryRowValues {
  const values: Record<string, unknown> = {};
  for (const field of registryDeclarationOf(name).fields) {
    const value = ownPayloadMember(meta, field.field);
    if (value === undefined || field.primary || KEY_COLUMNS[name].includes(field.field)) continue;
    if (value === null && field.nullable !== true) continue;
    values[field.field] = value === null ? null : toColumnValue(field, value);
    const choices = Object.hasOwn(CHOICES, field.field) ? CHOICES[field.field] : undefined;
    if (choices && !choices.includes(value))
      throw createInvalidPayloadFailure(`"meta.${field.field}" must be one of ${choices.map(String).join(', ')}.`);
  }
  if ('validation' in values && values.validation !== null && !String(values.validation).startsWith('{')) {
    throw createInvalidPayloadFailure('"meta.validation" must be a filter object.');
  }
  return values;
}

function toColumnValue({ field, type, maxLength }: SystemField, value: unknown): unknown {
  const invalidMember = (expected: string) => createInvalidPayloadFailure(`"meta.${field}" must be ${expected}.`);
  switch (type) {
    case 'boolean':
      if (typeof value !== 'boolean') throw invalidMember('true or false');
      return value;
    case 'integer':
      if (!Number.isInteger(value) || Math.abs(value as number) > 2 ** 31 - 1) throw invalidMember('a whole number');
      return value;
    case 'json':
      return toJsonText(field, value);
    case 'csv': {
      const list = typeof value === 'string' ? value.split(',') : value;
      if (!Array.isArray(list) || list.some((one) => typeof one !== 'string')) throw invalidMember('a list of texts');
      return assertText(field, list.map((one: string) => one.trim()).join(','), undefined);
    }
    default:
      if (typeof value !== 'string' && typeof value !== 'number') throw invalidMember('a text');
      return assertText(field, String(value), maxLength);
  }
}

function assertText(field: string, text: string, maxLength: number | undefined): string {
  if (text.includes('\0')) throw createInvalidPayloadFailure(`"meta.${field}" must not contain a NUL character.`);
  const { length } = [...text];
  if (maxLength !== undefined && length > maxLength) {
    const reason = `"meta.${field}" has ${length} characters, more than the ${maxLength} allowed.`;
    throw fail('VALUE_TOO_LONG', reason, { field });
  }
  return text;
}

function toJsonText(field: string, value: unknown): string {
  const text = JSON.stringify(value);
  if (/(?<!\\)(\\\\)*\\u0000/.test(text))
    throw createInvalidPayloadFailure(`"meta.${field}" must not contain a NUL character.`);
  return text;
}

/** Inserts a registry row, or updates the existing one. */
export async function upsertRegistryRow(
  deps: SchemaWriteDeps,
  name: RegistryTableName,
  key: RegistryRowValues,
  values: RegistryRowValues,
): Promise<void> {
  const all = { ...key, ...values };
  const columns = Object.keys(all).map(quoteIdentifier).join(', ');
  const placeholders = Object.keys(all)
    .map((_key, at) => `$${at + 1}`)
    .join(', ');
  const changes = Object.keys(values).map(
    (column) => `${quoteIdentifier(column)} = excluded.${quoteIdentifier(column)}`,
  );
  const action = changes.length > 0 ? `update set ${changes.join(', ')}` : 'nothing';
  await deps.db.query(
    `insert into ${quoteRegistryTable(deps, name)} (${columns}) values (${placeholders})
    on conflict (${Object.keys(key).map(quoteIdentifier).join(', ')}) do ${action}`,
    Object.values(all),
  );
}

/** Deletes the registry rows whose columns have these values. */
export async function deleteMatchingRegistryRows(
  deps: SchemaWriteDeps,
  name: RegistryTableName,
  where: RegistryRowValues,
): Promise<void> {
  const tests = Object.keys(where).map((column, at) => `${quoteIdentifier(column)} = $${at + 1}`);
  await deps.db.query(
    `delete from ${quoteRegistryTable(deps, name)} where ${tests.join(' and ')}`,
    Object.values(where),
  );
}

/** Updates the registry rows whose columns have these values. */
export async function updateRegistryRows(
  deps: SchemaWriteDeps,
  name: RegistryTableName,
  values: RegistryRowValues,
  where: RegistryRowValues,
): Promise<void> {
  const assignments = Object.keys(values).map((column, at) => `${quoteIdentifier(column)} = $${at + 1}`);
  const tests = Object.keys(where).map((column, at) => `${quoteIdentifier(column)} = $${assignments.length + at + 1}`);
  await deps.db.query(
    `update ${quoteRegistryTable(deps, name)} set ${assignments.join(', ')} where ${tests.join(' and ')}`,
    [...Object.values(values), ...Object.values(where)],
  );
}

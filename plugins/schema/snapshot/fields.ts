import { toColumn } from '../catalog/column.ts';
import { toFieldType } from '../catalog/column-type.ts';
import type { CatalogTable, RegistryRow } from '../catalog/content.ts';
import { isSearchVector } from '../column-kinds.ts';
import type { Column, Field, FieldMeta, FieldType, SystemCollection } from '../contract.ts';
import { aliasesOf, type Declarations } from '../system/declarations.ts';
import { toFieldMeta } from './registry-rows.ts';
import { buildSystemAliasMeta, buildSystemFieldMeta } from './system-meta.ts';

export type MutableField = { -readonly [K in keyof Field]: Field[K] };
export type MutableFields = Map<string, MutableField>;

/** Flags of fields without a column. */
export const ALIAS_SPECIALS: readonly string[] = [
  'alias',
  'no-data',
  'group',
  'o2m',
  'm2m',
  'm2a',
  'files',
  'translations',
];
const TEXT_TYPES: readonly FieldType[] = ['string', 'text'];

/** Flags that say what a column holds, where the column can hold it. */
const TYPE_FLAGS: Readonly<Record<string, { readonly type: FieldType; readonly on: readonly FieldType[] }>> = {
  hash: { type: 'hash', on: TEXT_TYPES },
  'cast-json': { type: 'json', on: TEXT_TYPES },
  'cast-csv': { type: 'csv', on: TEXT_TYPES },
  csv: { type: 'csv', on: TEXT_TYPES },
  uuid: { type: 'uuid', on: TEXT_TYPES },
  file: { type: 'uuid', on: TEXT_TYPES },
};

/** A table's fields: its columns in their order, then its aliases. What they lead to is filled in later. */
export function buildFields(
  collection: string,
  table: CatalogTable,
  rows: readonly RegistryRow[],
  declared: SystemCollection | undefined,
  all: Declarations,
): MutableFields {
  const metas = new Map(rows.map((row) => [String(row.field), toFieldMeta(row)]));
  const fields: MutableFields = new Map();
  for (const one of table.columns) {
    const type = toFieldType(one);
    const column = toColumn(one, table);
    const field =
      buildSystemField(collection, column, declared) ??
      buildRegisteredField(collection, column, type, metas.get(one.name) ?? null);
    fields.set(one.name, field);
  }
  markSearchVectorsSensitive(fields);
  for (const { alias } of declared ? aliasesOf(collection, all) : []) {
    if (!fields.has(alias)) fields.set(alias, buildAliasField(collection, buildSystemAliasMeta(collection, alias)));
  }
  for (const meta of metas.values()) {
    // A row whose column is gone is a left-over, not an alias.
    const isAlias = meta.special?.some((flag) => ALIAS_SPECIALS.includes(flag));
    if (isAlias && !fields.has(meta.field)) fields.set(meta.field, buildAliasField(collection, meta));
  }
  return fields;
}

/**
 * Words of a secret that stand in a search vector can be searched for. In a table that holds secrets, a permission has to
 * name the search vector, as it has to name sensitive fields.
 */
function markSearchVectorsSensitive(fields: MutableFields): void {
  const all = [...fields.values()];
  if (!all.some(({ concealed, sensitive }) => concealed || sensitive)) return;
  for (const field of all) if (isSearchVector(field)) field.sensitive = true;
}

function buildSystemField(
  collection: string,
  column: Column,
  declared: SystemCollection | undefined,
): MutableField | undefined {
  const at = declared?.fields.findIndex(({ field }) => field === column.name) ?? -1;
  const field = declared?.fields[at];
  if (!field) return undefined;
  const special = field.special ?? [];
  return {
    collection,
    name: column.name,
    type: field.type,
    // Uniqueness regardless of case rests on an index over an expression, which the catalog does not show as the column's.
    column: field.unique && !column.unique ? { ...column, unique: true } : column,
    special,
    meta: buildSystemFieldMeta(collection, field, at),
    concealed: field.type === 'hash' || special.includes('conceal'),
    sensitive: field.sensitive === true,
    relation: null,
  };
}

function buildRegisteredField(
  collection: string,
  column: Column,
  type: FieldType,
  meta: FieldMeta | null,
): MutableField {
  const special = meta?.special ?? [];
  const seen = applyTypeFlags(type, column, special);
  return {
    collection,
    name: column.name,
    type: seen,
    column,
    special,
    meta,
    concealed: seen === 'hash' || special.includes('conceal'),
    sensitive: false,
    relation: null,
  };
}

function applyTypeFlags(type: FieldType, column: Column, special: readonly string[]): FieldType {
  if (column.enumValues) return type;
  for (const flag of special) {
    const override = Object.hasOwn(TYPE_FLAGS, flag) ? TYPE_FLAGS[flag] : undefined;
    if (override?.on.includes(type)) return override.type;
  }
  return type;
}

const buildAliasField = (collection: string, meta: FieldMeta): MutableField => ({
  collection,
  name: meta.field,
  type: 'alias',
  column: null,
  special: meta.special ?? [],
  meta,
  concealed: false,
  sensitive: false,
  relation: null,
});

import { toSchemaColumn } from '../catalog/column.ts';
import { toFieldType } from '../catalog/column-type.ts';
import type { CatalogTable, RegistryRow } from '../catalog/parse-catalog-content.ts';
import { isSearchVector } from '../column-kinds.ts';
import type { Column, Field, FieldMeta, FieldType, SystemCollection } from '../contract.ts';
import { type DeclaredCollections, toManyAliasesOf } from '../system/declarations.ts';
import { toFieldMeta } from './registry-rows.ts';
import { buildSystemAliasMeta, buildSystemFieldMeta } from './system-meta.ts';

export type MutableField = { -readonly [K in keyof Field]: Field[K] };
export type MutableFields = Map<string, MutableField>;

/** Values of `special` that mark a field without a column. */
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

/** Values of `special` that change the field type, and the column types they apply to. */
const TYPE_FLAGS: Readonly<Record<string, { readonly type: FieldType; readonly on: readonly FieldType[] }>> = {
  hash: { type: 'hash', on: TEXT_TYPES },
  'cast-json': { type: 'json', on: TEXT_TYPES },
  'cast-csv': { type: 'csv', on: TEXT_TYPES },
  csv: { type: 'csv', on: TEXT_TYPES },
  uuid: { type: 'uuid', on: TEXT_TYPES },
  file: { type: 'uuid', on: TEXT_TYPES },
};

/** The fields of a table: its columns in their order, then its aliases. `linkFieldsToRelations` adds the relations later. */
export function buildTableFields(
  collection: string,
  table: CatalogTable,
  rows: readonly RegistryRow[],
  declared: SystemCollection | undefined,
  all: DeclaredCollections,
): MutableFields {
  const metas = new Map(rows.map((row) => [String(row.field), toFieldMeta(row)]));
  const fields: MutableFields = new Map();
  for (const one of table.columns) {
    const type = toFieldType(one);
    const column = toSchemaColumn(one, table);
    const field =
      buildSystemField(collection, column, declared) ??
      buildRegisteredField(collection, column, type, metas.get(one.name) ?? null);
    fields.set(one.name, field);
  }
  markSearchVectorsSensitive(fields);
  for (const { alias } of declared ? toManyAliasesOf(collection, all) : []) {
    if (!fields.has(alias)) fields.set(alias, buildAliasField(collection, buildSystemAliasMeta(collection, alias)));
  }
  for (const meta of metas.values()) {
    // A registry row without its column is a leftover, not an alias.
    const isAlias = meta.special?.some((flag) => ALIAS_SPECIALS.includes(flag));
    if (isAlias && !fields.has(meta.field)) fields.set(meta.field, buildAliasField(collection, meta));
  }
  return fields;
}

/**
 * A search vector may hold words of a secret. So in a table with concealed or sensitive fields its search vectors are
 * sensitive: a permission has to name them.
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
    column: {
      ...column,
      // A case-insensitive unique field has an index over an expression, which the catalog does not list for the column.
      unique: column.unique || field.unique === true,
      ...(field.whenNull ? { whenNull: field.whenNull } : {}),
    },
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
  const fieldType = applyTypeFlags(type, column, special);
  return {
    collection,
    name: column.name,
    type: fieldType,
    column,
    special,
    meta,
    concealed: fieldType === 'hash' || special.includes('conceal'),
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

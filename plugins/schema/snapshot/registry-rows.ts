import type { RegistryRow } from '../catalog/parse-catalog-content.ts';
import type { CollectionMeta, FieldMeta, RelationMeta } from '../contract.ts';

const textOrNull = (value: unknown): string | null => (typeof value === 'string' ? value : null);
const numberOrNull = (value: unknown): number | null => (typeof value === 'number' ? value : null);
const isNot = (value: unknown, other: boolean): boolean => value !== other;

/** Parses a stored comma-separated list; null stays null. */
export const parseCommaList = (value: unknown): readonly string[] | null =>
  typeof value === 'string' ? value.split(',').filter((part) => part !== '') : null;

export const toCollectionMeta = (row: RegistryRow): CollectionMeta => ({
  collection: String(row.collection),
  icon: textOrNull(row.icon),
  note: textOrNull(row.note),
  color: textOrNull(row.color),
  display_template: textOrNull(row.display_template),
  hidden: row.hidden === true,
  singleton: row.singleton === true,
  translations: row.translations ?? null,
  archive_field: textOrNull(row.archive_field),
  archive_value: textOrNull(row.archive_value),
  unarchive_value: textOrNull(row.unarchive_value),
  archive_app_filter: isNot(row.archive_app_filter, false),
  sort_field: textOrNull(row.sort_field),
  accountability: row.accountability === 'all' || row.accountability === 'activity' ? row.accountability : null,
  item_duplication_fields: row.item_duplication_fields ?? null,
  sort: numberOrNull(row.sort),
  group: textOrNull(row.group),
  collapse: textOrNull(row.collapse) ?? 'open',
});

export const toFieldMeta = (row: RegistryRow): FieldMeta => ({
  id: numberOrNull(row.id),
  collection: String(row.collection),
  field: String(row.field),
  special: parseCommaList(row.special),
  interface: textOrNull(row.interface),
  options: row.options ?? null,
  display: textOrNull(row.display),
  display_options: row.display_options ?? null,
  readonly: row.readonly === true,
  hidden: row.hidden === true,
  required: row.required === true,
  sort: numberOrNull(row.sort),
  width: textOrNull(row.width),
  group: textOrNull(row.group),
  translations: row.translations ?? null,
  note: textOrNull(row.note),
  conditions: row.conditions ?? null,
  validation: isPlainObject(row.validation) ? row.validation : null,
  validation_message: textOrNull(row.validation_message),
  searchable: isNot(row.searchable, false),
});

export const toRelationMeta = (row: RegistryRow): RelationMeta => ({
  id: numberOrNull(row.id),
  many_collection: String(row.many_collection),
  many_field: String(row.many_field),
  one_collection: textOrNull(row.one_collection),
  one_field: textOrNull(row.one_field),
  one_collection_field: textOrNull(row.one_collection_field),
  one_allowed_collections: parseCommaList(row.one_allowed_collections),
  junction_field: textOrNull(row.junction_field),
  sort_field: textOrNull(row.sort_field),
  one_deselect_action: row.one_deselect_action === 'delete' ? 'delete' : 'nullify',
});

const isPlainObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

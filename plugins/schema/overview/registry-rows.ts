import type { Row } from '../catalog/content.ts';
import type { CollectionMeta, FieldMeta, RelationMeta } from '../contract.ts';

const text = (value: unknown): string | null => (typeof value === 'string' ? value : null);
const number = (value: unknown): number | null => (typeof value === 'number' ? value : null);
const isNot = (value: unknown, other: boolean): boolean => value !== other;

/** A stored comma list; null stays null. */
export const listOf = (value: unknown): readonly string[] | null =>
  typeof value === 'string' ? value.split(',').filter((part) => part !== '') : null;

export const collectionMeta = (row: Row): CollectionMeta => ({
  collection: String(row.collection),
  icon: text(row.icon),
  note: text(row.note),
  color: text(row.color),
  display_template: text(row.display_template),
  hidden: row.hidden === true,
  singleton: row.singleton === true,
  translations: row.translations ?? null,
  archive_field: text(row.archive_field),
  archive_value: text(row.archive_value),
  unarchive_value: text(row.unarchive_value),
  archive_app_filter: isNot(row.archive_app_filter, false),
  sort_field: text(row.sort_field),
  accountability: row.accountability === 'all' || row.accountability === 'activity' ? row.accountability : null,
  item_duplication_fields: row.item_duplication_fields ?? null,
  sort: number(row.sort),
  group: text(row.group),
  collapse: text(row.collapse) ?? 'open',
});

export const fieldMeta = (row: Row): FieldMeta => ({
  id: number(row.id),
  collection: String(row.collection),
  field: String(row.field),
  special: listOf(row.special),
  interface: text(row.interface),
  options: row.options ?? null,
  display: text(row.display),
  display_options: row.display_options ?? null,
  readonly: row.readonly === true,
  hidden: row.hidden === true,
  required: row.required === true,
  sort: number(row.sort),
  width: text(row.width),
  group: text(row.group),
  translations: row.translations ?? null,
  note: text(row.note),
  conditions: row.conditions ?? null,
  validation: isRule(row.validation) ? row.validation : null,
  validation_message: text(row.validation_message),
  searchable: isNot(row.searchable, false),
});

export const relationMeta = (row: Row): RelationMeta => ({
  id: number(row.id),
  many_collection: String(row.many_collection),
  many_field: String(row.many_field),
  one_collection: text(row.one_collection),
  one_field: text(row.one_field),
  one_collection_field: text(row.one_collection_field),
  one_allowed_collections: listOf(row.one_allowed_collections),
  junction_field: text(row.junction_field),
  sort_field: text(row.sort_field),
  one_deselect_action: row.one_deselect_action === 'delete' ? 'delete' : 'nullify',
});

const isRule = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

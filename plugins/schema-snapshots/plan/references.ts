import type { Caller } from '#kernel';
import type { ExtensionSettingValues } from '../../extension-settings/contract.ts';
import type { ItemsEngine } from '../../items/contract.ts';
import type { JsonObject, SchemaSnapshotDocument } from '../contract.ts';

/** A collection, or a field of one, that is dropped, renamed or gets another type. */
export interface ChangedName {
  readonly collection: string;
  readonly field?: string;
}

/** A place that names something that changes. */
export interface NameReference {
  readonly name: string;
  /** What names it, as a phrase. */
  readonly by: string;
}

export interface ReferenceDeps {
  readonly items: Pick<ItemsEngine, 'rows'>;
  readonly settings: Pick<ExtensionSettingValues, 'list'>;
}

/** A text of the database that may name fields, and the collection that it is about; null where it names that itself. */
interface NamingRecord {
  readonly by: string;
  readonly collection: string | null;
  readonly content: unknown;
}

/**
 * Finds permissions, presets, flows, panels, settings of extensions and metadata that name what changes. It compares words, so it may
 * find a place that means something else; code of extensions is not read.
 */
export async function findReferences(
  deps: ReferenceDeps,
  caller: Caller,
  current: SchemaSnapshotDocument,
  changed: readonly ChangedName[],
): Promise<readonly NameReference[]> {
  if (changed.length === 0) return [];
  const records = [...(await readRecords(deps, caller)), ...metadataRecords(current)];
  return changed.flatMap(({ collection, field }) => {
    const links = current.relations
      .filter((one) => one.related_collection === collection)
      .map((one) => [one.collection, one.field] as const);
    const isNaming = (record: NamingRecord): boolean => {
      const words = wordsOf(record.content);
      if (field === undefined) return record.collection === collection || words.has(collection);
      if (!words.has(field)) return false;
      if (record.collection === collection || record.collection === null)
        return record.collection !== null || words.has(collection);
      return links.some(([many, link]) => many === record.collection && words.has(link));
    };
    const name = field === undefined ? collection : `${collection}.${field}`;
    return records.filter(isNaming).map(({ by }) => ({ name, by }));
  });
}

async function readRecords({ items, settings }: ReferenceDeps, caller: Caller): Promise<readonly NamingRecord[]> {
  const read = (collection: string, fields: readonly string[]) =>
    items.rows<JsonObject>(caller, collection, { fields: [...fields], limit: -1 });
  const permissions = await read('platform_permissions', [
    ...['collection', 'action', 'permissions', 'validation', 'presets', 'fields', 'role.name'],
  ]);
  const presets = await read('platform_presets', [
    ...['id', 'bookmark', 'collection', 'filter', 'layout_query', 'layout_options'],
  ]);
  const flows = await read('platform_flows', ['name', 'options']);
  const operations = await read('platform_operations', ['key', 'options', 'flow.name']);
  const panels = await read('platform_panels', ['name', 'type', 'options', 'dashboard.name']);
  const named = (value: unknown) => String((value as { name?: unknown } | null)?.name ?? '');
  return [
    ...permissions.map(({ role, collection, action, ...content }) => ({
      by: `the permission of role "${named(role)}" to ${String(action)} ${String(collection)}`,
      collection: String(collection),
      content,
    })),
    ...presets.map(({ id, bookmark, collection, ...content }) => ({
      by: `the preset ${bookmark ? `"${String(bookmark)}"` : String(id)} of ${String(collection)}`,
      collection: String(collection),
      content,
    })),
    ...flows.map(({ name, options }) => ({ by: `the flow "${String(name)}"`, collection: null, content: options })),
    ...operations.map(({ key, flow, options }) => ({
      by: `the operation "${String(key)}" of the flow "${named(flow)}"`,
      collection: null,
      content: options,
    })),
    ...panels.map(({ name, type, dashboard, options }) => ({
      by: `the panel "${String(name ?? type)}" of the dashboard "${named(dashboard)}"`,
      collection: null,
      content: options,
    })),
    ...(await settings.list()).map(({ subject, scope, scope_key, key, value }) => ({
      by: `the setting "${key}" of the extension "${subject}"`,
      collection: scope === 'collection' ? scope_key : null,
      content: value,
    })),
  ];
}

const metadataRecords = ({ collections, fields }: SchemaSnapshotDocument): readonly NamingRecord[] => [
  ...collections.map(({ collection, meta }) => ({
    by: `the metadata of ${collection}`,
    collection,
    content: [meta?.display_template, meta?.sort_field, meta?.archive_field, meta?.item_duplication_fields],
  })),
  ...fields.map(({ collection, field, meta }) => ({
    by: `the metadata of ${collection}.${field}`,
    collection,
    content: [meta?.options, meta?.display_options, meta?.conditions, meta?.validation],
  })),
];

/** The keys, the texts and the words of texts in a value. */
function wordsOf(value: unknown, found = new Set<string>()): ReadonlySet<string> {
  if (typeof value === 'string') {
    found.add(value);
    for (const word of value.split(/[^\p{L}\p{N}_$-]+/u)) found.add(word);
  } else if (typeof value === 'object' && value !== null) {
    for (const [key, one] of Object.entries(value)) {
      if (!Array.isArray(value)) found.add(key);
      wordsOf(one, found);
    }
  }
  return found;
}

import { assignCollectionNames } from '../catalog/collection-names.ts';
import type { CatalogContent, CatalogTable, RegistryRow } from '../catalog/parse-catalog-content.ts';
import {
  type Collection,
  type CollectionMeta,
  type SchemaOverview,
  SYSTEM_COLLECTION_PREFIX,
  type SystemCollection,
} from '../contract.ts';
import type { DeclaredCollections } from '../system/declarations.ts';
import { addCompositeFields } from './composite-fields.ts';
import { buildTableFields, type MutableFields } from './fields.ts';
import { findTableKey, NO_TABLE_KEY } from './keys.ts';
import { toCollectionMeta } from './registry-rows.ts';
import { buildRelations, linkFieldsToRelations } from './relations.ts';
import { buildSystemCollectionMeta } from './system-meta.ts';

/** The table of migrations, which exists before any declared table. */
const MIGRATIONS_TABLE: SystemCollection = {
  collection: 'platform_migrations',
  note: 'Steps by which plugins prepared their tables',
  internal: 'listed',
  fields: [
    { field: 'owner', type: 'text' },
    { field: 'id', type: 'text' },
    { field: 'at', type: 'timestamp', default: 'now()' },
  ],
};

interface BuildInput {
  readonly content: CatalogContent;
  readonly version: string;
  readonly declarations: DeclaredCollections;
  /** The first of DB_SCHEMAS, which holds the tables of the service. */
  readonly firstSchema: string;
}

/** Builds the schema snapshot from catalogs, registry rows and declarations. */
export function buildSchemaSnapshot({ content, version, declarations, firstSchema }: BuildInput): SchemaOverview {
  const names = assignCollectionNames(
    content.tables,
    firstSchema,
    (name) => declarations.has(name) || name === MIGRATIONS_TABLE.collection,
  );
  const rows = rowsByCollection(content.registry.fields);
  const metas = new Map(content.registry.collections.map((row) => [String(row.collection), toCollectionMeta(row)]));

  const collections = new Map<string, TableCollection>();
  const listed = new Map<string, Collection>();
  const served = new Map<CatalogTable, string>();
  for (const [table, name] of names) {
    const system = name === MIGRATIONS_TABLE.collection ? MIGRATIONS_TABLE : declarations.get(name);
    const fields = buildTableFields(name, table, rows.get(name) ?? [], system, declarations);
    const meta = system ? buildSystemCollectionMeta(system) : (metas.get(name) ?? null);
    const collection = buildCollection(name, table, fields, meta, system !== undefined);
    if (system?.internal === 'listed') listed.set(name, { ...collection, verbs: [] });
    if (system?.internal) continue;
    served.set(table, name);
    collections.set(name, system?.verbs ? { ...collection, verbs: system.verbs } : collection);
  }
  const nameOf = (table: CatalogTable) => served.get(table);
  const compositeFields = addCompositeFields(content, (table) => collections.get(nameOf(table) ?? ''));
  const relations = buildRelations({ content, collections, nameOf, compositeFields, declarations });
  linkFieldsToRelations(relations, collections);

  const all = new Map<string, Collection>(collections);
  for (const [name, foreignKeys] of Map.groupBy(compositeFields.values(), ({ collection }) => collection))
    all.set(name, { ...(all.get(name) as Collection), compositeForeignKeys: foreignKeys });
  for (const [name, meta] of metas) {
    if (!all.has(name) && !name.startsWith(SYSTEM_COLLECTION_PREFIX)) all.set(name, buildFolder(name, meta));
  }
  return { version, collections: all, relations, listedTables: listed };
}

/** A collection whose fields still lack their relations. */
type TableCollection = Collection & { readonly fields: MutableFields };

function buildCollection(
  name: string,
  table: CatalogTable,
  fields: MutableFields,
  meta: CollectionMeta | null,
  system: boolean,
): TableCollection {
  const isTable = table.kind === 'r' || table.kind === 'p';
  const sortField = meta?.sort_field;
  return {
    name,
    table: { schema: table.schema, name: table.name, comment: table.comment },
    kind: isTable ? 'table' : 'view',
    hasSideEffects: table.hasSideEffects || table.kind !== 'r',
    system,
    meta,
    ...findTableKey(name, table, fields),
    fields,
    compositeForeignKeys: [],
    singleton: meta?.singleton === true,
    sortField: sortField && fields.get(sortField)?.column ? sortField : null,
  };
}

const buildFolder = (name: string, meta: CollectionMeta): Collection => ({
  name,
  table: null,
  kind: 'folder',
  hasSideEffects: false,
  system: false,
  meta,
  ...NO_TABLE_KEY,
  fields: new Map(),
  compositeForeignKeys: [],
  singleton: false,
  sortField: null,
});

function rowsByCollection(rows: readonly RegistryRow[]): ReadonlyMap<string, readonly RegistryRow[]> {
  const by = new Map<string, RegistryRow[]>();
  for (const row of rows) {
    const list = by.get(String(row.collection));
    if (list) list.push(row);
    else by.set(String(row.collection), [row]);
  }
  return by;
}

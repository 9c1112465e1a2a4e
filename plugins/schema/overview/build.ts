import { collectionNames } from '../catalog/collection-names.ts';
import type { CatalogTable, Content, Row } from '../catalog/content.ts';
import {
  type Collection,
  type CollectionMeta,
  type Overview,
  SYSTEM_PREFIX,
  type SystemCollection,
} from '../contract.ts';
import type { Declarations } from '../system/declarations.ts';
import { fieldsOf, type MutableFields } from './fields.ts';
import { addJointFields } from './joint-fields.ts';
import { keyOfTable, NO_KEY } from './keys.ts';
import { collectionMeta } from './registry-rows.ts';
import { linkFields, relationsOf } from './relations.ts';
import { systemCollectionMeta } from './system-meta.ts';

/** The record of migrations, which is there before any table that is declared. */
const MIGRATIONS: SystemCollection = {
  collection: 'platform_migrations',
  note: 'Steps by which plugins prepared their tables',
  internal: 'listed',
  fields: [
    { field: 'owner', type: 'text' },
    { field: 'id', type: 'text' },
    { field: 'at', type: 'timestamp', default: 'now()' },
  ],
};

interface Input {
  readonly content: Content;
  readonly version: string;
  readonly declared: Declarations;
  /** The schema that holds the service's own tables. */
  readonly first: string;
}

/** Catalogs, registry rows and declarations put together. */
export function buildOverview({ content, version, declared, first }: Input): Overview {
  const names = collectionNames(content.tables, first, (name) => declared.has(name) || name === MIGRATIONS.collection);
  const rows = rowsByCollection(content.registry.fields);
  const metas = new Map(content.registry.collections.map((row) => [String(row.collection), collectionMeta(row)]));

  const collections = new Map<string, Collection & { readonly fields: MutableFields }>();
  const listed = new Map<string, Collection>();
  const served = new Map<CatalogTable, string>();
  for (const [table, name] of names) {
    const system = name === MIGRATIONS.collection ? MIGRATIONS : declared.get(name);
    const fields = fieldsOf(name, table, rows.get(name) ?? [], system, declared);
    const meta = system ? systemCollectionMeta(system) : (metas.get(name) ?? null);
    const collection = collectionOf(name, table, fields, meta, system !== undefined);
    if (system?.internal === 'listed') listed.set(name, { ...collection, verbs: [] });
    if (system?.internal) continue;
    served.set(table, name);
    collections.set(name, system?.verbs ? { ...collection, verbs: system.verbs } : collection);
  }
  const nameOf = (table: CatalogTable) => served.get(table);
  const joints = addJointFields(content, (table) => collections.get(nameOf(table) ?? ''));
  const relations = relationsOf({ content, collections, nameOf, joints, declared });
  linkFields(relations, collections);

  const all = new Map<string, Collection>(collections);
  for (const [name, jointFields] of Map.groupBy(joints.values(), ({ collection }) => collection))
    all.set(name, { ...(all.get(name) as Collection), jointFields });
  for (const [name, meta] of metas) {
    if (!all.has(name) && !name.startsWith(SYSTEM_PREFIX)) all.set(name, folderOf(name, meta));
  }
  return { version, collections: all, relations, listed };
}

function collectionOf(
  name: string,
  table: CatalogTable,
  fields: MutableFields,
  meta: CollectionMeta | null,
  system: boolean,
) {
  const isTable = table.kind === 'r' || table.kind === 'p';
  const sortField = meta?.sort_field;
  return {
    name,
    table: { schema: table.schema, name: table.name, comment: table.comment },
    kind: isTable ? ('table' as const) : ('view' as const),
    reacts: table.reacts || table.kind !== 'r',
    system,
    meta,
    ...keyOfTable(name, table, fields),
    fields,
    jointFields: [],
    singleton: meta?.singleton === true,
    sortField: sortField && fields.get(sortField)?.column ? sortField : null,
  };
}

const folderOf = (name: string, meta: CollectionMeta): Collection => ({
  name,
  table: null,
  kind: 'folder',
  reacts: false,
  system: false,
  meta,
  ...NO_KEY,
  fields: new Map(),
  jointFields: [],
  singleton: false,
  sortField: null,
});

function rowsByCollection(rows: readonly Row[]): ReadonlyMap<string, readonly Row[]> {
  const by = new Map<string, Row[]>();
  for (const row of rows) {
    const list = by.get(String(row.collection));
    if (list) list.push(row);
    else by.set(String(row.collection), [row]);
  }
  return by;
}

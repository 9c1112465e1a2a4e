import { type Caller, fail } from '#kernel';
import type { Collection, Field, FieldRecord, Relation, SchemaOverview } from '../schema/contract.ts';
import { createUnknownSchemaNameFailure, toReadableFieldRecord } from '../schema/library.ts';
import type { CollectionRouteDeps } from './route-helpers.ts';

/** The part of the schema snapshot that a caller may see. */
export interface VisibleSchema {
  readonly snapshot: SchemaOverview;
  /** Readable fields by collection; null for admins, who see everything. */
  readonly fields: ReadonlyMap<string, ReadonlySet<string>> | null;
}

type RegistryCollection = 'platform_collections' | 'platform_fields' | 'platform_relations';

/** Loads what the caller may see. @throws FORBIDDEN without the permission to read `registry` */
export async function loadVisibleSchema(
  caller: Caller,
  registry: RegistryCollection,
  { access, schema }: CollectionRouteDeps,
): Promise<VisibleSchema> {
  // Not the cached snapshot: clients use these routes to check whether the service has seen a change of the database.
  const snapshot = await schema.refresh();
  if (caller.admin) return { snapshot, fields: null };
  if (!(await access.isAllowed(caller, 'read', registry))) throw fail('FORBIDDEN', `no permission to read ${registry}`);
  const fields = new Map<string, ReadonlySet<string>>();
  for (const collection of snapshot.collections.values()) {
    if (collection.kind === 'folder' || !(await access.isAllowed(caller, 'read', collection.name))) continue;
    fields.set(collection.name, await access.readableFields(collection, caller));
  }
  return { snapshot, fields };
}

export function visibleCollections({ snapshot, fields }: VisibleSchema): readonly Collection[] {
  const all = [...snapshot.collections.values()];
  if (!fields) return [...all, ...snapshot.listedTables.values()];
  const shown = new Set(fields.keys());
  // A folder is visible where a collection in it is, at any depth.
  for (const name of fields.keys()) {
    let group = snapshot.collections.get(name)?.meta?.group;
    while (group && !shown.has(group) && snapshot.collections.get(group)?.kind === 'folder') {
      shown.add(group);
      group = snapshot.collections.get(group)?.meta?.group;
    }
  }
  return all.filter(({ name }) => shown.has(name));
}

export function requireVisibleCollection(visible: VisibleSchema, name: string): Collection {
  const collection = visibleCollections(visible).find((one) => one.name === name);
  if (!collection && !visible.fields) throw createUnknownSchemaNameFailure('collection', name);
  if (!collection) throw fail('FORBIDDEN', `there is no collection ${name}, or it may not be read`);
  return collection;
}

export const visibleFields = ({ fields }: VisibleSchema, collection: Collection): readonly Field[] =>
  [...collection.fields.values()].filter(({ name }) => !fields || fields.get(collection.name)?.has(name));

export function requireVisibleField(visible: VisibleSchema, collection: string, name: string): Field {
  const field = visibleFields(visible, requireVisibleCollection(visible, collection)).find((one) => one.name === name);
  if (!field && !visible.fields) throw createUnknownSchemaNameFailure('field', `${collection}.${name}`);
  if (!field) throw fail('FORBIDDEN', `there is no field ${collection}.${name}, or it may not be read`);
  return field;
}

export const toVisibleFieldRecord = ({ snapshot, fields }: VisibleSchema, field: Field): FieldRecord =>
  toReadableFieldRecord(field, snapshot, (collection) => fields === null || fields.has(collection));

/** Relations of which the caller may read both ends. */
export const visibleRelations = ({ snapshot, fields }: VisibleSchema): readonly Relation[] =>
  fields ? snapshot.relations.filter((relation) => isVisibleRelation(relation, fields)) : snapshot.relations;

function isVisibleRelation(
  { collection, field, related, meta }: Relation,
  fields: NonNullable<VisibleSchema['fields']>,
): boolean {
  if (!fields.get(collection)?.has(field)) return false;
  if (related !== null && !fields.has(related)) return false;
  if (related !== null && meta?.one_field && !fields.get(related)?.has(meta.one_field)) return false;
  return related !== null || (meta?.one_allowed_collections ?? []).every((name) => fields.has(name));
}

export function requireVisibleRelation(visible: VisibleSchema, collection: string, field: string): Relation {
  const relation = visibleRelations(visible).find((one) => one.collection === collection && one.field === field);
  if (!relation && !visible.fields) throw createUnknownSchemaNameFailure('relation', `${collection}.${field}`);
  if (!relation) throw fail('FORBIDDEN', `there is no relation ${collection}.${field}, or it may not be read`);
  return relation;
}

import { type Caller, fail } from '#kernel';
import type { Collection, Field, FieldRecord, Overview, Relation } from '../schema/contract.ts';
import { absent, fieldRecord } from '../schema/library.ts';
import type { Deps } from './deps.ts';

/** What of an overview a caller may know of. */
export interface Visible {
  readonly overview: Overview;
  /** Null: everything. */
  readonly fields: ReadonlyMap<string, ReadonlySet<string>> | null;
}

type Registry = 'platform_collections' | 'platform_fields' | 'platform_relations';

/** FORBIDDEN for those who may not read the registry at all; the others see what they may read of the rest. */
export async function visibleTo(caller: Caller, registry: Registry, { access, schema }: Deps): Promise<Visible> {
  // Not the remembered one: these routes are how somebody looks whether a change of the database has been noticed.
  const overview = await schema.refresh();
  if (caller.admin) return { overview, fields: null };
  if (!(await access.may(caller, 'read', registry))) throw fail('FORBIDDEN', `no permission to read ${registry}`);
  const fields = new Map<string, ReadonlySet<string>>();
  for (const collection of overview.collections.values()) {
    if (collection.kind === 'folder' || !(await access.may(caller, 'read', collection.name))) continue;
    fields.set(collection.name, await access.readableFields(collection, caller));
  }
  return { overview, fields };
}

export function visibleCollections({ overview, fields }: Visible): readonly Collection[] {
  const all = [...overview.collections.values()];
  if (!fields) return [...all, ...overview.listed.values()];
  const shown = new Set(fields.keys());
  // A folder shows where something in it does, at any depth.
  for (const name of fields.keys()) {
    let group = overview.collections.get(name)?.meta?.group;
    while (group && !shown.has(group) && overview.collections.get(group)?.kind === 'folder') {
      shown.add(group);
      group = overview.collections.get(group)?.meta?.group;
    }
  }
  return all.filter(({ name }) => shown.has(name));
}

export function visibleCollection(visible: Visible, name: string): Collection {
  const collection = visibleCollections(visible).find((one) => one.name === name);
  if (!collection && !visible.fields) throw absent('collection', name);
  if (!collection) throw fail('FORBIDDEN', `there is no collection ${name}, or it may not be read`);
  return collection;
}

export const visibleFields = ({ fields }: Visible, collection: Collection): readonly Field[] =>
  [...collection.fields.values()].filter(({ name }) => !fields || fields.get(collection.name)?.has(name));

export function visibleField(visible: Visible, collection: string, name: string): Field {
  const field = visibleFields(visible, visibleCollection(visible, collection)).find((one) => one.name === name);
  if (!field && !visible.fields) throw absent('field', `${collection}.${name}`);
  if (!field) throw fail('FORBIDDEN', `there is no field ${collection}.${name}, or it may not be read`);
  return field;
}

/** What a caller is shown of a field he may read: not where it leads, if he may not read that. */
export function visibleRecord({ overview, fields }: Visible, field: Field): FieldRecord {
  const record = fieldRecord(field, overview);
  const isHidden = fields !== null && field.relation?.kind === 'one' && !fields.has(field.relation.to);
  if (!isHidden || !record.schema) return record;
  const nowhere = { foreign_key_schema: null, foreign_key_table: null, foreign_key_column: null };
  return { ...record, schema: { ...record.schema, ...nowhere } };
}

/** Relations whose both ends may be read. */
export const visibleRelations = ({ overview, fields }: Visible): readonly Relation[] =>
  fields ? overview.relations.filter((relation) => isVisible(relation, fields)) : overview.relations;

function isVisible({ collection, field, related, meta }: Relation, fields: NonNullable<Visible['fields']>): boolean {
  if (!fields.get(collection)?.has(field)) return false;
  if (related !== null && !fields.has(related)) return false;
  if (related !== null && meta?.one_field && !fields.get(related)?.has(meta.one_field)) return false;
  return related !== null || (meta?.one_allowed_collections ?? []).every((name) => fields.has(name));
}

export function visibleRelation(visible: Visible, collection: string, field: string): Relation {
  const relation = visibleRelations(visible).find((one) => one.collection === collection && one.field === field);
  if (!relation && !visible.fields) throw absent('relation', `${collection}.${field}`);
  if (!relation) throw fail('FORBIDDEN', `there is no relation ${collection}.${field}, or it may not be read`);
  return relation;
}

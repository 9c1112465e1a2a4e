import type { Collection, Relation, SchemaOverview } from '../contract.ts';
import { createUnknownSchemaNameFailure } from '../not-found.ts';
import { parseCommaList } from '../snapshot/registry-rows.ts';
import { createInvalidPayloadFailure } from './payload.ts';
import type { RegistryRowValues } from './registry-row.ts';

/** Validates `meta` of a many-to-any relation. @throws INVALID_PAYLOAD */
export function assertManyToAnyMeta(snapshot: SchemaOverview, many: Collection, values: RegistryRowValues): void {
  const by = values.one_collection_field;
  const allowed = parseCommaList(values.one_allowed_collections) ?? [];
  if (typeof by !== 'string' || allowed.length === 0) {
    throw createInvalidPayloadFailure(
      '"related_collection" is required, or "meta.one_collection_field" and "meta.one_allowed_collections".',
    );
  }
  if (!many.fields.get(by)?.column)
    throw createInvalidPayloadFailure(`Collection "${many.name}" has no field "${by}".`);
  const unknown = allowed.find((name) => !snapshot.collections.has(name));
  if (unknown !== undefined) throw createInvalidPayloadFailure(`There is no collection "${unknown}".`);
}

/** The alias `one_field` must not be a column, nor belong to another relation. @throws INVALID_PAYLOAD */
export function assertToManyAliasIsFree(
  snapshot: SchemaOverview,
  one: Collection | undefined,
  values: RegistryRowValues,
  current: Relation | null,
): void {
  const name = values.one_field;
  if (typeof name !== 'string' || !one) return;
  if (one.fields.get(name)?.column)
    throw createInvalidPayloadFailure(`Field "${name}" of "${one.name}" has a column and cannot be an alias.`);
  const taken = snapshot.relations.find(({ related, meta }) => related === one.name && meta?.one_field === name);
  if (taken && (taken.collection !== current?.collection || taken.field !== current.field)) {
    throw createInvalidPayloadFailure(`Field "${name}" of "${one.name}" already shows another relation.`);
  }
}

export const findRelation = (snapshot: SchemaOverview, collection: string, field: string): Relation | undefined =>
  snapshot.relations.find((one) => one.collection === collection && one.field === field);

/** @throws ROUTE_NOT_FOUND for an unknown relation */
export function requireRelation(snapshot: SchemaOverview, collection: string, field: string): Relation {
  const relation = findRelation(snapshot, collection, field);
  if (!relation) throw createUnknownSchemaNameFailure('relation', `${collection}.${field}`);
  return relation;
}

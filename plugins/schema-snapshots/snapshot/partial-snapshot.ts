import { fail } from '#kernel';
import type { SchemaSnapshotDocument } from '../contract.ts';

/** Which collections a partial snapshot has. */
export interface CollectionChoice {
  readonly include?: readonly string[];
  readonly exclude?: readonly string[];
}

/**
 * Leaves some collections with their fields and relations in a snapshot.
 * @throws INVALID_QUERY for both lists, and for a name that is no collection of the snapshot
 */
export function chooseCollections(
  snapshot: SchemaSnapshotDocument,
  { include, exclude }: CollectionChoice,
): SchemaSnapshotDocument {
  if (!include && !exclude) return snapshot;
  if (include && exclude)
    throw fail('INVALID_QUERY', '"includeCollections" and "excludeCollections" exclude each other.');
  const known = new Set([...snapshot.collections, ...snapshot.fields].map(({ collection }) => collection));
  const unknown = (include ?? exclude ?? []).find((name) => !known.has(name));
  if (unknown !== undefined) throw fail('INVALID_QUERY', `There is no collection "${unknown}" in the snapshot.`);
  const isChosen = ({ collection }: { readonly collection: string }) =>
    include ? include.includes(collection) : !exclude?.includes(collection);
  return {
    ...snapshot,
    version: 2,
    collections: snapshot.collections.filter(isChosen),
    fields: snapshot.fields.filter(isChosen),
    systemFields: snapshot.systemFields.filter(isChosen),
    relations: snapshot.relations.filter(isChosen),
  };
}

import type { Caller } from '#kernel';
import type { Collection } from '../contract.ts';
import { dropForeignKeyConstraint } from './foreign-key.ts';
import { createInvalidPayloadFailure } from './payload.ts';
import { deleteMatchingRegistryRows } from './registry-row.ts';
import { requireRelation } from './relation-checks.ts';
import type { SchemaWriteDeps } from './write-deps-and-guards.ts';

/** Drops the foreign key and deletes the registry row; the columns stay. */
export async function deleteRelation(
  deps: SchemaWriteDeps,
  caller: Caller,
  collection: string,
  name: string,
): Promise<void> {
  const snapshot = await deps.cache.snapshot();
  const relation = requireRelation(snapshot, collection, name);
  if (relation.meta?.system) throw createInvalidPayloadFailure('A relation of the service itself cannot be deleted.');
  const context = { caller, collection, keys: [name] };
  await deps.events.filter(['relations.delete'], [name], context);
  if (relation.schema)
    await dropForeignKeyConstraint(
      deps,
      snapshot.collections.get(collection) as Collection,
      relation.schema.constraint_name,
    );
  await deleteMatchingRegistryRows(deps, 'relations', { many_collection: collection, many_field: name });
  deps.events.action(['relations.delete'], { ...context, payload: [name] });
}

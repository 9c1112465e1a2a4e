import type { Caller } from '#kernel';
import type { Collection } from '../contract.ts';
import { dropConstraint } from './constraint.ts';
import type { WriteDeps } from './deps.ts';
import { invalid } from './payload.ts';
import { deleteRows } from './registry-row.ts';
import { knownRelation } from './relation-checks.ts';

/** Removes the constraint and what is known; the columns stay. */
export async function deleteRelation(deps: WriteDeps, caller: Caller, collection: string, name: string): Promise<void> {
  const overview = await deps.keeper.overview();
  const relation = knownRelation(overview, collection, name);
  if (relation.meta?.system) throw invalid('A relation of the service itself cannot be deleted.');
  const about = { caller, collection, keys: [name] };
  await deps.events.filter(['relations.delete'], [name], about);
  if (relation.schema)
    await dropConstraint(deps, overview.collections.get(collection) as Collection, relation.schema.constraint_name);
  await deleteRows(deps, 'relations', { many_collection: collection, many_field: name });
  deps.events.action(['relations.delete'], { ...about, payload: [name] });
}

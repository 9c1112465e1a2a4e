import type { Caller } from '#kernel';
import { knownCollection, type WriteDeps } from './deps.ts';
import { aboutCollection, announce, filtered } from './events.ts';
import { invalid, member, part } from './payload.ts';
import { deleteRows, rowValues, upsertRow } from './registry-row.ts';

/** Changes what is known about a collection; its table stays as it is. */
export async function updateCollection(deps: WriteDeps, caller: Caller, name: string, input: unknown): Promise<void> {
  const collection = knownCollection(await deps.keeper.overview(), name);
  const about = aboutCollection(caller, name);
  const payload = await filtered(deps, 'collections', 'update', input, about);
  const meta = part(payload, 'meta');
  if (member(payload, 'collection') !== undefined && member(payload, 'collection') !== name) {
    throw invalid('A collection cannot be renamed.');
  }
  if (meta !== undefined && collection.system) throw invalid(`"${name}" belongs to the service and cannot be changed.`);
  if (meta === null) await deleteRows(deps, 'collections', { collection: name });
  else if (meta) await upsertRow(deps, 'collections', { collection: name }, rowValues('collections', meta));
  announce(deps, 'collections', 'update', payload, about);
}

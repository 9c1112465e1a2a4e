import type { Caller } from '#kernel';
import { requireCollection, type WriteDeps } from './deps.ts';
import { createCollectionEventMeta, emitAction, runRegistryFilters } from './events.ts';
import { invalidPayload, ownMember, parseObjectMember } from './payload.ts';
import { deleteMatchingRegistryRows, parseRegistryMeta, upsertRegistryRow } from './registry-row.ts';

/** Changes the registry row of a collection; its table stays. */
export async function updateCollection(deps: WriteDeps, caller: Caller, name: string, input: unknown): Promise<void> {
  const collection = requireCollection(await deps.cache.snapshot(), name);
  const context = createCollectionEventMeta(caller, name);
  const payload = await runRegistryFilters(deps, 'collections', 'update', input, context);
  const meta = parseObjectMember(payload, 'meta');
  if (ownMember(payload, 'collection') !== undefined && ownMember(payload, 'collection') !== name) {
    throw invalidPayload('A collection cannot be renamed.');
  }
  if (meta !== undefined && collection.system)
    throw invalidPayload(`"${name}" belongs to the service and cannot be changed.`);
  if (meta === null) await deleteMatchingRegistryRows(deps, 'collections', { collection: name });
  else if (meta)
    await upsertRegistryRow(deps, 'collections', { collection: name }, parseRegistryMeta('collections', meta));
  emitAction(deps, 'collections', 'update', payload, context);
}

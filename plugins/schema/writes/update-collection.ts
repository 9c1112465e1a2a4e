import type { Caller } from '#kernel';
import { quoteLiteral } from '../../database/library.ts';
import { createCollectionEventMeta, emitSchemaChangeAction, runSchemaChangeFilters } from './events.ts';
import { createInvalidPayloadFailure, ownPayloadMember, parseObjectPayloadMember } from './payload.ts';
import { deleteMatchingRegistryRows, parseRegistryMeta, upsertRegistryRow } from './registry-row.ts';
import { quoteTable, requireCollection, type SchemaWriteDeps } from './write-deps-and-guards.ts';

/** Changes the registry row of a collection; its table stays. */
export async function updateCollection(
  deps: SchemaWriteDeps,
  caller: Caller,
  name: string,
  input: unknown,
): Promise<void> {
  const collection = requireCollection(await deps.cache.snapshot(), name);
  const context = createCollectionEventMeta(caller, name);
  const payload = await runSchemaChangeFilters(deps, 'collections', 'update', input, context);
  const meta = parseObjectPayloadMember(payload, 'meta');
  if (ownPayloadMember(payload, 'collection') !== undefined && ownPayloadMember(payload, 'collection') !== name) {
    throw createInvalidPayloadFailure('A collection cannot be renamed.');
  }
  if (meta !== undefined && collection.system)
    throw createInvalidPayloadFailure(`"${name}" belongs to the service and cannot be changed.`);
  if (meta === null) await deleteMatchingRegistryRows(deps, 'collections', { collection: name });
  else if (meta)
    await upsertRegistryRow(deps, 'collections', { collection: name }, parseRegistryMeta('collections', meta));
  const schema = deps.exact ? parseObjectPayloadMember(payload, 'schema') : undefined;
  const comment = (schema?.comment as string | null | undefined) ?? null;
  if (schema && collection.kind === 'table' && comment !== (collection.table?.comment ?? null)) {
    const text = comment === null ? 'null' : quoteLiteral(String(comment));
    await deps.db.ddl(`comment on table ${quoteTable(collection)} is ${text}`);
  }
  emitSchemaChangeAction(deps, 'collections', 'update', payload, context);
}

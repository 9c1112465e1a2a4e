import type { EventsApi } from '#kernel';
import type { ReferenceRemoval } from '../../items/contract.ts';
import type { SchemaService } from '../../schema/contract.ts';
import { FILES_COLLECTION_NAME } from '../contract.ts';
import { lockDeletableFiles, type WritableFileQueryDeps } from '../upload/writable-files.ts';

interface RuleDeps extends WritableFileQueryDeps {
  readonly references: ReferenceRemoval;
  readonly schema: Pick<SchemaService, 'snapshot'>;
}

/**
 * Clears references to deleted files, in the same unit of work (specification, "Files endpoints", 6). The files are locked first:
 * with ON DELETE CASCADE, a row that starts to refer to one meanwhile would be deleted with it.
 */
export function registerFileReferenceClearing(deps: RuleDeps, events: Pick<EventsApi, 'onFilter'>): void {
  events.onFilter('files.delete', async (payload, { caller }) => {
    const schemaSnapshot = await deps.schema.snapshot();
    const collection = schemaSnapshot.collections.get(FILES_COLLECTION_NAME);
    if (!collection) return;
    const files = await lockDeletableFiles(deps, { collection, schemaSnapshot, caller }, payload as readonly unknown[]);
    if (files.length > 0)
      await deps.references.clear(
        FILES_COLLECTION_NAME,
        files.map(({ id }) => id),
        caller,
      );
  });
}

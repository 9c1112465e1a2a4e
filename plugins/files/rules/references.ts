import type { EventsApi } from '#kernel';
import type { References } from '../../items/contract.ts';
import type { Schema } from '../../schema/contract.ts';
import { FILES } from '../contract.ts';
import { deletableFiles, type WritableDeps } from '../upload/updatable.ts';

interface RuleDeps extends WritableDeps {
  readonly references: References;
  readonly schema: Pick<Schema, 'overview'>;
}

/**
 * A file that is deleted is cleared from the rows that refer to it (specification, "Files endpoints", 6), in the same unit of work.
 * It is locked first: a row that begins to refer to it meanwhile would be deleted along where its foreign key says so.
 */
export function referenceRules(deps: RuleDeps, events: Pick<EventsApi, 'onFilter'>): void {
  events.onFilter('files.delete', async (payload, { caller }) => {
    const overview = await deps.schema.overview();
    const collection = overview.collections.get(FILES);
    if (!collection) return;
    const files = await deletableFiles(deps, { collection, overview, caller }, payload as readonly unknown[]);
    if (files.length > 0)
      await deps.references.clear(
        FILES,
        files.map(({ id }) => id),
        caller,
      );
  });
}

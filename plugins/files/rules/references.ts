import type { EventsApi } from '#kernel';
import type { Access } from '../../access/contract.ts';
import type { References } from '../../items/contract.ts';
import { isUuid } from '../../query/library.ts';
import { FILES } from '../contract.ts';

interface RuleDeps {
  readonly access: Pick<Access, 'demand'>;
  readonly references: References;
}

/**
 * A file that goes is cleared from the rows that refer to it (specification, "Files endpoints", 6), in the same unit of work.
 */
export function referenceRules({ access, references }: RuleDeps, events: Pick<EventsApi, 'onFilter'>): void {
  events.onFilter('files.delete', async (payload, { caller }) => {
    await access.demand(caller, 'delete', FILES);
    const keys = (payload as readonly unknown[]).filter((key) => typeof key === 'string' && isUuid(key));
    await references.clear(FILES, keys as string[]);
  });
}

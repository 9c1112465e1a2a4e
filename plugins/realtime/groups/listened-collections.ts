import type { EventsApi } from '#kernel';
import { itemEventNames } from '../../items/library.ts';
import type { Collection } from '../../schema/contract.ts';

/** Whether a listener may change the query or the rows of reads of this collection. */
export const hasReadListeners = (events: Pick<EventsApi, 'hasListeners'>, collection: Collection): boolean =>
  ['read', 'query'].some((verb) =>
    itemEventNames(collection, verb).some((name) => events.hasListeners('filter', name)),
  );

import type { EventsApi } from '#kernel';
import { type Collection, SYSTEM_COLLECTION_PREFIX } from '../../schema/contract.ts';

/** Whether a listener may change the query or the rows of reads of this collection. */
export function hasReadListeners(events: Pick<EventsApi, 'hasListeners'>, { name, system }: Collection): boolean {
  const scope = system ? [name.slice(SYSTEM_COLLECTION_PREFIX.length)] : ['items', `${name}.items`];
  return scope.some(
    (one) => events.hasListeners('filter', `${one}.read`) || events.hasListeners('filter', `${one}.query`),
  );
}

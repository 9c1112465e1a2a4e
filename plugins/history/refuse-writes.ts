import { type EventsApi, fail, isSystem } from '#kernel';

/**
 * Only the service writes history. No route writes it, and this filter rejects writes of all callers, admins included,
 * also by nested payloads of related collections and by the items engine.
 */
export function refuseHistoryWrites(events: EventsApi): void {
  for (const name of ['activity', 'revisions']) {
    for (const verb of ['create', 'update', 'delete']) {
      events.onFilter(`${name}.${verb}`, (_payload, { caller }) => {
        if (!isSystem(caller)) throw fail('FORBIDDEN', `platform_${name} is written by the service only`);
      });
    }
  }
}

import { type EventsApi, fail, isSystem } from '#kernel';

/**
 * What happened is written by the service alone. There are no routes to write it, and nobody gets around that, admins
 * included: not by nested payloads of collections related to these two, nor by any other way to the items engine.
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

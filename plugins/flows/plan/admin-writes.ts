import { type EventMeta, type EventsApi, fail } from '#kernel';

const COLLECTIONS = ['flows', 'operations'] as const;
const VERBS = ['create', 'update', 'delete'] as const;

/**
 * Only admins write flows and operations, whatever the permissions of a role are: an operation may act with all permissions, a schedule
 * acts without a user, and an event flow acts as the user who writes next, an admin among them.
 */
export function refuseWritesByOthers(events: Pick<EventsApi, 'onFilter'>): void {
  const refuse = (_payload: unknown, { caller }: EventMeta): void => {
    if (!caller.admin) throw fail('FORBIDDEN', 'flows and operations are written by admins');
  };
  for (const collection of COLLECTIONS) for (const verb of VERBS) events.onFilter(`${collection}.${verb}`, refuse);
}

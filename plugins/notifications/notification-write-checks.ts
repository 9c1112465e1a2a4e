import { type EventsApi, fail, isSystem } from '#kernel';
import type { AccessControl } from '../access/contract.ts';
import { NOTIFICATION_STATUSES, NOTIFICATIONS_COLLECTION } from './collections.ts';

type Payload = Readonly<Record<string, unknown>>;

interface Deps {
  readonly access: Pick<AccessControl, 'assertAllowed'>;
}

/** Rules of notifications for every caller. */
export function registerNotificationWriteChecks({ access }: Deps, events: EventsApi): void {
  const addRule = (action: 'create' | 'update') =>
    events.onFilter(`notifications.${action}`, async (payload, { caller }) => {
      await access.assertAllowed(caller, action, NOTIFICATIONS_COLLECTION);
      assertStatus(payload as Payload);
      return isSystem(caller) || action === 'create' ? undefined : withoutSenderAndTime(payload as Payload);
    });
  addRule('create');
  addRule('update');
}

function assertStatus({ status }: Payload): void {
  if (status === undefined || NOTIFICATION_STATUSES.some((one) => one === status)) return;
  throw fail('INVALID_PAYLOAD', `status must be one of ${NOTIFICATION_STATUSES.join(', ')}.`, {
    field: 'status',
    path: ['status'],
  });
}

/** Only the platform sets sender and time, on create; updates cannot change them. */
const withoutSenderAndTime = ({ sender: _sender, timestamp: _timestamp, ...payload }: Payload): Payload => payload;

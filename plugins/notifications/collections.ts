import type { SystemCollection } from '../schema/contract.ts';

export const NOTIFICATIONS_COLLECTION = 'platform_notifications';
export const NOTIFICATION_STATUSES = ['inbox', 'archived'] as const;

export const notificationsCollection: SystemCollection = {
  collection: NOTIFICATIONS_COLLECTION,
  note: 'Notices to users',
  accountability: null,
  fields: [
    { field: 'id', type: 'integer', primary: true, autoIncrement: true },
    { field: 'timestamp', type: 'timestamp', default: 'now()', special: ['date-created'] },
    { field: 'status', type: 'string', maxLength: 255, default: "'inbox'" },
    { field: 'recipient', type: 'uuid', references: { collection: 'platform_users', onDelete: 'CASCADE' } },
    {
      field: 'sender',
      type: 'uuid',
      nullable: true,
      special: ['user-created'],
      references: { collection: 'platform_users', onDelete: 'SET NULL' },
    },
    { field: 'subject', type: 'string', maxLength: 255 },
    { field: 'message', type: 'text', nullable: true },
    { field: 'collection', type: 'string', maxLength: 64, nullable: true },
    { field: 'item', type: 'string', maxLength: 255, nullable: true },
  ],
};

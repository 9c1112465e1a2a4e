import type { SystemCollection, SystemField } from '../schema/contract.ts';

export const COMMENTS_COLLECTION_NAME = 'platform_comments';

const userField = (field: string, flag: string): SystemField => ({
  field,
  type: 'uuid',
  nullable: true,
  special: [flag],
  references: { collection: 'platform_users', onDelete: 'SET NULL' },
});
const dateField = (field: string, flag: string, more: Partial<SystemField> = {}): SystemField => ({
  field,
  type: 'timestamp',
  nullable: true,
  special: [flag],
  ...more,
});

export const commentsCollection: SystemCollection = {
  collection: COMMENTS_COLLECTION_NAME,
  note: 'What users say about items',
  fields: [
    { field: 'id', type: 'uuid', primary: true, special: ['uuid'] },
    { field: 'collection', type: 'string', maxLength: 64 },
    { field: 'item', type: 'string', maxLength: 255 },
    { field: 'comment', type: 'text' },
    dateField('date_created', 'date-created', { default: 'now()' }),
    dateField('date_updated', 'date-updated'),
    userField('user_created', 'user-created'),
    userField('user_updated', 'user-updated'),
  ],
};

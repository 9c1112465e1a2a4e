import type { SystemCollection } from '../schema/contract.ts';

export const SHARES_COLLECTION = 'platform_shares';
export const SHARE_LIMITS_TABLE = 'platform_share_limits';

export const sharesCollection: SystemCollection = {
  collection: SHARES_COLLECTION,
  note: 'Items that are shared by a link',
  fields: [
    { field: 'id', type: 'uuid', primary: true, special: ['uuid'] },
    { field: 'name', type: 'string', maxLength: 255, nullable: true },
    { field: 'collection', type: 'string', maxLength: 64 },
    { field: 'item', type: 'string', maxLength: 255 },
    { field: 'role', type: 'uuid', nullable: true, references: { collection: 'platform_roles', onDelete: 'CASCADE' } },
    { field: 'password', type: 'hash', special: ['hash', 'conceal'], nullable: true },
    {
      field: 'user_created',
      type: 'uuid',
      nullable: true,
      special: ['user-created'],
      references: { collection: 'platform_users', onDelete: 'SET NULL' },
    },
    { field: 'date_created', type: 'timestamp', default: 'now()', special: ['date-created'] },
    { field: 'date_start', type: 'timestamp', nullable: true },
    { field: 'date_end', type: 'timestamp', nullable: true },
    { field: 'times_used', type: 'integer', default: '0' },
    { field: 'max_uses', type: 'integer', nullable: true },
  ],
};

/** Wrong passwords of shares, and invitations, counted in windows of time over all processes. */
export const shareLimitsCollection: SystemCollection = {
  collection: SHARE_LIMITS_TABLE,
  note: 'How often passwords of shares were guessed, and how many invitations were sent',
  internal: true,
  fields: [
    { field: 'key', type: 'string', maxLength: 255, primary: true },
    { field: 'used', type: 'integer' },
    { field: 'ends', type: 'timestamp' },
    {
      field: 'share',
      type: 'uuid',
      nullable: true,
      references: { collection: SHARES_COLLECTION, onDelete: 'CASCADE' },
    },
  ],
};

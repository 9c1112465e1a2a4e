import type { SystemCollection } from '../schema/contract.ts';

/** Maximum number of characters of the texts in a row of activity; longer texts are truncated. */
export const ACTIVITY_TEXT_LENGTHS = {
  ip: 50,
  user_agent: 255,
  origin: 255,
  owner: 255,
  invocation: 255,
  item: 255,
} as const;

const textField = (field: keyof typeof ACTIVITY_TEXT_LENGTHS) =>
  ({ field, type: 'string', maxLength: ACTIVITY_TEXT_LENGTHS[field], nullable: true }) as const;
const jsonField = (field: string) => ({ field, type: 'json', special: ['cast-json'], nullable: true }) as const;
const ID = { field: 'id', type: 'integer', primary: true, autoIncrement: true } as const;
// A table whose name exists in two schemas is called by schema and table name, each of which may have 63 characters.
const COLLECTION_FIELD = { field: 'collection', type: 'string', maxLength: 255 } as const;
const ITEM_FIELD = { ...textField('item'), nullable: false } as const;

/**
 * The collection of activity (specification "Roles and permissions", 2.8), extended by the owner of actions without a user, and
 * by the invocation.
 */
export const activityCollection: SystemCollection = {
  collection: 'platform_activity',
  note: 'Who did what, when',
  verbs: ['read'],
  accountability: null,
  fields: [
    ID,
    { field: 'action', type: 'string', maxLength: 45 },
    // No foreign key, so that the id of the user stays when the user is deleted.
    { field: 'user', type: 'uuid', nullable: true, references: { collection: 'platform_users', constraint: false } },
    { field: 'timestamp', type: 'timestamp', default: 'now()', special: ['date-created', 'cast-timestamp'] },
    textField('ip'),
    textField('user_agent'),
    textField('origin'),
    COLLECTION_FIELD,
    ITEM_FIELD,
    { field: 'comment', type: 'text', nullable: true },
    textField('owner'),
    textField('invocation'),
  ],
  indexes: [['collection', 'item'], ['timestamp']],
};

/** The collection of revisions (specification "Roles and permissions", 2.9). */
export const revisionsCollection: SystemCollection = {
  collection: 'platform_revisions',
  note: 'What items were after each change',
  verbs: ['read'],
  accountability: null,
  fields: [
    ID,
    // No foreign key (ADR 37): PostgreSQL would check it row by row, by a plan cached while the table was empty, that is by a scan of
    // the whole table for each row. Both rows are written by one statement, so there is nothing to check.
    {
      field: 'activity',
      type: 'integer',
      references: { collection: 'platform_activity', constraint: false, alias: 'revisions' },
    },
    COLLECTION_FIELD,
    ITEM_FIELD,
    jsonField('data'),
    // A revision of a new row stores its values once.
    { ...jsonField('delta'), whenNull: 'data' },
    // The parent revision may be written later in the same transaction.
    {
      field: 'parent',
      type: 'integer',
      nullable: true,
      references: { collection: 'platform_revisions', constraint: false },
    },
  ],
  indexes: [['collection', 'item']],
};

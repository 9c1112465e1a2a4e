import type { SystemCollection, SystemField } from '../schema/contract.ts';

const stringField = (field: string, maxLength: number, more: Partial<SystemField> = {}): SystemField => ({
  field,
  type: 'string',
  maxLength,
  nullable: true,
  ...more,
});
const integerField = (field: string): SystemField => ({ field, type: 'integer' });
const ID: SystemField = { field: 'id', type: 'uuid', primary: true, special: ['uuid'] };
const NOTE: SystemField = { field: 'note', type: 'text', nullable: true };
const CREATION_FIELDS: readonly SystemField[] = [
  { field: 'date_created', type: 'timestamp', nullable: true, default: 'now()', special: ['date-created'] },
  {
    field: 'user_created',
    type: 'uuid',
    nullable: true,
    special: ['user-created'],
    references: { collection: 'platform_users', onDelete: 'SET NULL' },
  },
];

export const dashboardsCollection: SystemCollection = {
  collection: 'platform_dashboards',
  note: 'Pages of panels',
  fields: [
    ID,
    stringField('name', 255, { nullable: false }),
    stringField('icon', 64, { default: "'dashboard'" }),
    NOTE,
    stringField('color', 255),
    ...CREATION_FIELDS,
  ],
};

export const panelsCollection: SystemCollection = {
  collection: 'platform_panels',
  note: 'What a dashboard shows, and where on it',
  fields: [
    ID,
    {
      field: 'dashboard',
      type: 'uuid',
      references: { collection: 'platform_dashboards', onDelete: 'CASCADE', alias: 'panels', deselect: 'delete' },
    },
    stringField('name', 255),
    stringField('icon', 64),
    stringField('color', 255),
    { field: 'show_header', type: 'boolean', default: 'false' },
    NOTE,
    stringField('type', 255, { nullable: false }),
    integerField('position_x'),
    integerField('position_y'),
    integerField('width'),
    integerField('height'),
    { field: 'options', type: 'json', special: ['cast-json'], nullable: true },
    ...CREATION_FIELDS,
  ],
};

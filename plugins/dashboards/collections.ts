import type { SystemCollection, SystemField } from '../schema/contract.ts';

const string = (field: string, maxLength: number, more: Partial<SystemField> = {}): SystemField => ({
  field,
  type: 'string',
  maxLength,
  nullable: true,
  ...more,
});
const whole = (field: string): SystemField => ({ field, type: 'integer' });
const id: SystemField = { field: 'id', type: 'uuid', primary: true, special: ['uuid'] };
const note: SystemField = { field: 'note', type: 'text', nullable: true };
const made: readonly SystemField[] = [
  { field: 'date_created', type: 'timestamp', nullable: true, default: 'now()', special: ['date-created'] },
  {
    field: 'user_created',
    type: 'uuid',
    nullable: true,
    special: ['user-created'],
    references: { collection: 'platform_users', onDelete: 'SET NULL' },
  },
];

export const dashboards: SystemCollection = {
  collection: 'platform_dashboards',
  note: 'Pages of panels',
  fields: [
    id,
    string('name', 255, { nullable: false }),
    string('icon', 64, { default: "'dashboard'" }),
    note,
    string('color', 255),
    ...made,
  ],
};

export const panels: SystemCollection = {
  collection: 'platform_panels',
  note: 'What a dashboard shows, and where on it',
  fields: [
    id,
    {
      field: 'dashboard',
      type: 'uuid',
      references: { collection: 'platform_dashboards', onDelete: 'CASCADE', alias: 'panels', deselect: 'delete' },
    },
    string('name', 255),
    string('icon', 64),
    string('color', 255),
    { field: 'show_header', type: 'boolean', default: 'false' },
    note,
    string('type', 255, { nullable: false }),
    whole('position_x'),
    whole('position_y'),
    whole('width'),
    whole('height'),
    { field: 'options', type: 'json', special: ['cast-json'], nullable: true },
    ...made,
  ],
};

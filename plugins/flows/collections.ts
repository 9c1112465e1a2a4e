import type { SystemCollection, SystemField } from '../schema/contract.ts';

const ID: SystemField = { field: 'id', type: 'uuid', primary: true, special: ['uuid'] };
const text = (field: string, more: Partial<SystemField> = {}): SystemField => ({
  field,
  type: 'string',
  maxLength: 255,
  nullable: true,
  ...more,
});
const OPTIONS: SystemField = { field: 'options', type: 'json', special: ['cast-json'], nullable: true };
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
/** One operation follows one operation, or begins one flow. */
const nextOperation = (field: string): SystemField => ({
  field,
  type: 'uuid',
  nullable: true,
  unique: true,
  references: { collection: 'platform_operations', onDelete: 'SET NULL' },
});

/** The flow record (specification, "Flow record"). */
export const flowsCollection: SystemCollection = {
  collection: 'platform_flows',
  note: 'Automations: a trigger, and the first of a chain of operations',
  fields: [
    ID,
    text('name', { nullable: false }),
    text('icon', { maxLength: 64 }),
    text('color'),
    { field: 'description', type: 'text', nullable: true },
    text('status', { nullable: false, default: "'active'" }),
    text('trigger'),
    text('accountability', { default: "'all'" }),
    OPTIONS,
    nextOperation('operation'),
    ...CREATION_FIELDS,
  ],
};

/** The operation record (specification, "Operation record"). */
export const operationsCollection: SystemCollection = {
  collection: 'platform_operations',
  note: 'Steps of flows',
  fields: [
    ID,
    text('name'),
    text('key', { nullable: false }),
    text('type', { nullable: false }),
    { field: 'position_x', type: 'integer', nullable: true },
    { field: 'position_y', type: 'integer', nullable: true },
    OPTIONS,
    nextOperation('resolve'),
    nextOperation('reject'),
    {
      field: 'flow',
      type: 'uuid',
      references: { collection: 'platform_flows', onDelete: 'CASCADE', alias: 'operations', deselect: 'delete' },
    },
    ...CREATION_FIELDS,
  ],
};

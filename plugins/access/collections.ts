import type { SystemCollection } from '../schema/contract.ts';

const flag = (field: string, value: boolean) => ({ field, type: 'boolean', default: String(value) }) as const;
const json = (field: string) => ({ field, type: 'json', special: ['cast-json'], nullable: true }) as const;
const csv = (field: string) => ({ field, type: 'csv', special: ['cast-csv'], nullable: true }) as const;

export const rolesCollection: SystemCollection = {
  collection: 'platform_roles',
  note: 'What a group of users may do',
  fields: [
    { field: 'id', type: 'uuid', primary: true, special: ['uuid'] },
    // A trigger fills a missing key (`migrations.ts`), so that no caller needs permission for it.
    { field: 'key', type: 'string', unique: true, nullable: true },
    { field: 'name', type: 'string', maxLength: 100 },
    { field: 'icon', type: 'string', maxLength: 64, default: "'supervised_user_circle'", nullable: true },
    { field: 'description', type: 'text', nullable: true },
    csv('ip_access'),
    flag('enforce_tfa', false),
    flag('admin_access', false),
    flag('app_access', true),
  ],
};

export const permissionsCollection: SystemCollection = {
  collection: 'platform_permissions',
  note: 'What a role may do in a collection',
  fields: [
    { field: 'id', type: 'integer', primary: true, autoIncrement: true },
    { field: 'role', type: 'uuid', references: { collection: 'platform_roles', onDelete: 'CASCADE' } },
    { field: 'collection', type: 'string', maxLength: 64 },
    { field: 'action', type: 'string', maxLength: 10 },
    json('permissions'),
    json('validation'),
    json('presets'),
    csv('fields'),
  ],
  unique: [['role', 'collection', 'action']],
};

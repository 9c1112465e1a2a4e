import type { SystemCollection, SystemField } from '../schema/contract.ts';

const string = (field: string, maxLength: number, more: Partial<SystemField> = {}): SystemField => ({
  field,
  type: 'string',
  maxLength,
  nullable: true,
  ...more,
});
const json = (field: string, more: Partial<SystemField> = {}): SystemField => ({
  field,
  type: 'json',
  special: ['cast-json'],
  nullable: true,
  ...more,
});

/** Fields that decide identity and authority of a user: never part of `*` in a list of fields. */
const sensitive = { sensitive: true } as const;

export const usersCollection: SystemCollection = {
  collection: 'platform_users',
  note: 'People and programs that sign in',
  // Each provider names its users on its own.
  unique: [['provider', 'external_identifier']],
  fields: [
    { field: 'id', type: 'uuid', primary: true, special: ['uuid'] },
    string('first_name', 50),
    string('last_name', 50),
    string('email', 128, { unique: true, caseInsensitive: true }),
    { field: 'password', type: 'hash', special: ['hash', 'conceal'], nullable: true },
    string('location', 255),
    string('title', 50),
    { field: 'description', type: 'text', nullable: true },
    json('tags'),
    {
      field: 'avatar',
      type: 'uuid',
      nullable: true,
      references: { collection: 'platform_files', onDelete: 'SET NULL' },
    },
    string('language', 255),
    string('theme', 20, { default: "'auto'" }),
    string('appearance', 20),
    string('theme_light', 255),
    string('theme_dark', 255),
    json('theme_light_overrides'),
    json('theme_dark_overrides'),
    { field: 'email_notifications', type: 'boolean', default: 'true' },
    { field: 'status', type: 'string', maxLength: 16, default: "'active'", ...sensitive },
    {
      field: 'role',
      type: 'uuid',
      nullable: true,
      references: { collection: 'platform_roles', onDelete: 'SET NULL', alias: 'users' },
      ...sensitive,
    },
    string('token', 255, { unique: true, special: ['conceal'], ...sensitive }),
    string('tfa_secret', 255, { special: ['conceal'], hidden: true, ...sensitive }),
    { field: 'provider', type: 'string', maxLength: 128, default: "'default'", ...sensitive },
    string('external_identifier', 255, { special: ['conceal'], hidden: true, ...sensitive }),
    json('auth_data', { special: ['cast-json', 'conceal'], hidden: true, ...sensitive }),
    { field: 'last_access', type: 'timestamp', nullable: true },
    string('last_page', 255),
  ],
};

export const USER_STATUSES = ['draft', 'invited', 'unverified', 'active', 'suspended', 'archived'] as const;

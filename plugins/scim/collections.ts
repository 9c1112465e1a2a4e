import type { SystemCollection } from '../schema/contract.ts';

/** Characters of `userName` and `displayName`. */
export const MAX_NAME = 255;
/** A letter in lower case may be two characters, as that of İ is by some collations. */
const MAX_NAME_KEY = 2 * MAX_NAME;

const provider = { field: 'provider', type: 'string', maxLength: 128 } as const;
const times = [
  { field: 'created', type: 'timestamp', default: 'now()' },
  { field: 'modified', type: 'timestamp', default: 'now()' },
] as const;

/** What providers say of users and `platform_users` has no column for. */
export const scimUsersCollection: SystemCollection = {
  collection: 'platform_scim_users',
  note: 'Names of users at the identity providers that manage them',
  internal: true,
  fields: [
    { field: 'user', type: 'uuid', primary: true, references: { collection: 'platform_users', onDelete: 'CASCADE' } },
    provider,
    { field: 'user_name', type: 'string', maxLength: MAX_NAME },
    // The name in lower case: names that differ only in case are duplicates.
    { field: 'user_name_key', type: 'string', maxLength: MAX_NAME_KEY },
    { field: 'display_name', type: 'string', maxLength: MAX_NAME, nullable: true },
    ...times,
  ],
  unique: [['provider', 'user_name_key']],
};

export const scimGroupsCollection: SystemCollection = {
  collection: 'platform_scim_groups',
  note: 'Groups of identity providers',
  internal: true,
  fields: [
    { field: 'id', type: 'uuid', primary: true, default: 'gen_random_uuid()' },
    provider,
    { field: 'name', type: 'string', maxLength: MAX_NAME },
    { field: 'name_key', type: 'string', maxLength: MAX_NAME_KEY },
    { field: 'external_id', type: 'string', maxLength: MAX_NAME, nullable: true },
    // Whether ROLE_MAPPING named the group when roles were last given by it.
    { field: 'is_mapped', type: 'boolean', default: 'false' },
    ...times,
  ],
  unique: [['provider', 'name_key']],
};

export const scimMembersCollection: SystemCollection = {
  collection: 'platform_scim_members',
  note: 'Users in groups of identity providers',
  internal: true,
  fields: [
    { field: 'id', type: 'uuid', primary: true, default: 'gen_random_uuid()' },
    { field: 'group', type: 'uuid', references: { collection: 'platform_scim_groups', onDelete: 'CASCADE' } },
    { field: 'user', type: 'uuid', references: { collection: 'platform_users', onDelete: 'CASCADE' } },
  ],
  unique: [['group', 'user']],
};

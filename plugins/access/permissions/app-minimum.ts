import type { Permission, PermissionAction } from '../contract.ts';

type Rule = Record<string, unknown>;

const isOwn = (field: string): Rule => ({ [field]: { _eq: '$CURRENT_USER' } });
const isOwnRole = (field: string): Rule => ({ [field]: { _eq: '$CURRENT_ROLE' } });

const appPermission = (collection: string, action: PermissionAction, more: Partial<Permission> = {}): Permission => ({
  collection: `platform_${collection}`,
  action,
  rule: null,
  validation: null,
  presets: null,
  fields: ['*'],
  ...more,
});

const OWN_ACCOUNT_FIELDS = [
  'id',
  'first_name',
  'last_name',
  'last_page',
  'email',
  'password',
  'location',
  'title',
  'description',
  'tags',
  'avatar',
  'language',
  'theme',
  'appearance',
  'theme_light',
  'theme_dark',
  'theme_light_overrides',
  'theme_dark_overrides',
  'tfa_secret',
  'status',
  'role',
];

/**
 * The permissions that the admin app needs. They are not stored: `buildAppAccessPermissions` adds them to the stored permissions of callers with app
 * access who are not admins.
 */
export const APP_ACCESS_PERMISSIONS: readonly Permission[] = [
  appPermission('activity', 'read', { rule: isOwn('user') }),
  appPermission('activity', 'create', { validation: { comment: { _nnull: true } } }),
  appPermission('collections', 'read'),
  appPermission('comments', 'read', { rule: isOwn('user_created') }),
  appPermission('comments', 'create', { validation: { comment: { _nnull: true } } }),
  appPermission('comments', 'update', { rule: isOwn('user_created'), fields: ['comment'] }),
  appPermission('comments', 'delete', { rule: isOwn('user_created') }),
  appPermission('fields', 'read'),
  appPermission('notifications', 'read', { rule: isOwn('recipient') }),
  appPermission('notifications', 'update', { rule: isOwn('recipient'), fields: ['status'] }),
  appPermission('permissions', 'read', { rule: isOwnRole('role') }),
  appPermission('presets', 'read', {
    rule: {
      _or: [
        isOwn('user'),
        { _and: [{ user: { _null: true } }, isOwnRole('role')] },
        { _and: [{ user: { _null: true } }, { role: { _null: true } }] },
      ],
    },
  }),
  appPermission('presets', 'create', { validation: isOwn('user'), presets: { user: '$CURRENT_USER' } }),
  appPermission('presets', 'update', { rule: isOwn('user'), validation: isOwn('user') }),
  appPermission('presets', 'delete', { rule: isOwn('user') }),
  appPermission('relations', 'read'),
  appPermission('roles', 'read', { rule: isOwnRole('id') }),
  appPermission('settings', 'read'),
  appPermission('shares', 'read', { rule: isOwn('user_created') }),
  appPermission('translations', 'read'),
  appPermission('users', 'read', { rule: isOwn('id'), fields: OWN_ACCOUNT_FIELDS }),
];

/** To read collections, fields and relations, as far as the caller may read the rows; visitors of shares have them, too. */
export const SCHEMA_READ_PERMISSIONS: readonly Permission[] = ['collections', 'fields', 'relations'].map((name) =>
  appPermission(name, 'read'),
);

/** The permissions of app access beside the stored ones of a role. Activity is limited to collections that the role may read. */
export function buildAppAccessPermissions(stored: readonly Permission[]): readonly Permission[] {
  const reads = [...stored, ...APP_ACCESS_PERMISSIONS].filter(({ action }) => action === 'read');
  const readable = [...new Set(reads.map(({ collection }) => collection))].sort();
  return APP_ACCESS_PERMISSIONS.map((one) =>
    one.collection === 'platform_activity' && one.action === 'read'
      ? { ...one, rule: { _and: [one.rule, { collection: { _in: readable } }] } }
      : one,
  );
}

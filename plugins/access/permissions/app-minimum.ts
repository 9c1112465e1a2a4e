import type { Action, Permission } from '../contract.ts';

type Rule = Record<string, unknown>;

const own = (field: string): Rule => ({ [field]: { _eq: '$CURRENT_USER' } });
const ownRole = (field: string): Rule => ({ [field]: { _eq: '$CURRENT_ROLE' } });

const grant = (collection: string, action: Action, more: Partial<Permission> = {}): Permission => ({
  collection: `platform_${collection}`,
  action,
  rule: null,
  validation: null,
  presets: null,
  fields: ['*'],
  ...more,
});

const OWN_ACCOUNT = [
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
 * What the admin app needs to work at all. Not stored: added to the rows of every caller with app access, by `minimumBeside`
 * for those who are no admins.
 */
export const APP_MINIMUM: readonly Permission[] = [
  grant('activity', 'read', { rule: own('user') }),
  grant('activity', 'create', { validation: { comment: { _nnull: true } } }),
  grant('collections', 'read'),
  grant('comments', 'read', { rule: own('user_created') }),
  grant('comments', 'create', { validation: { comment: { _nnull: true } } }),
  grant('comments', 'update', { rule: own('user_created'), fields: ['comment'] }),
  grant('comments', 'delete', { rule: own('user_created') }),
  grant('fields', 'read'),
  grant('notifications', 'read', { rule: own('recipient') }),
  grant('notifications', 'update', { rule: own('recipient'), fields: ['status'] }),
  grant('permissions', 'read', { rule: ownRole('role') }),
  grant('presets', 'read', {
    rule: {
      _or: [
        own('user'),
        { _and: [{ user: { _null: true } }, ownRole('role')] },
        { _and: [{ user: { _null: true } }, { role: { _null: true } }] },
      ],
    },
  }),
  grant('presets', 'create', { validation: own('user'), presets: { user: '$CURRENT_USER' } }),
  grant('presets', 'update', { rule: own('user'), validation: own('user') }),
  grant('presets', 'delete', { rule: own('user') }),
  grant('relations', 'read'),
  grant('roles', 'read', { rule: ownRole('id') }),
  grant('settings', 'read'),
  grant('shares', 'read', { rule: own('user_created') }),
  grant('translations', 'read'),
  grant('users', 'read', { rule: own('id'), fields: OWN_ACCOUNT }),
];

/** The rows of app access beside the stored ones of a role: own activity is that of collections the role may read. */
export function minimumBeside(stored: readonly Permission[]): readonly Permission[] {
  const reads = [...stored, ...APP_MINIMUM].filter(({ action }) => action === 'read');
  const readable = [...new Set(reads.map(({ collection }) => collection))].sort();
  return APP_MINIMUM.map((one) =>
    one.collection === 'platform_activity' && one.action === 'read'
      ? { ...one, rule: { _and: [one.rule, { collection: { _in: readable } }] } }
      : one,
  );
}

import { type Caller, fail } from '#kernel';
import type { Db } from '../database/contract.ts';
import type { AccessControl, UserOrRoleWrite } from './contract.ts';

/** Fields of users that decide sign-in and role. A caller who writes one of them on an admin's row could become or lock out that admin. */
const USER_AUTHORITY_FIELDS = [
  'role',
  'status',
  'email',
  'password',
  'token',
  'tfa_secret',
  'provider',
  'external_identifier',
  'auth_data',
];
/** Fields of roles that make users admins or lock them out. */
export const ROLE_AUTHORITY_FIELDS = ['admin_access', 'app_access', 'ip_access', 'enforce_tfa'];

const AUTHORITY_FIELDS: Readonly<Record<string, readonly string[]>> = {
  platform_users: USER_AUTHORITY_FIELDS,
  platform_roles: ROLE_AUTHORITY_FIELDS,
};

/**
 * Only admins change an admin's authority, regardless of field lists, presets and listeners. Every write calls this with the values to
 * store; writes of other collections and writes by admins cost no statement.
 */
export function createPrivilegeEscalationGuard(
  db: Pick<Db, 'query' | 'read' | 'sql'>,
): AccessControl['assertAuthority'] {
  const roles = db.read('platform_roles');
  const ADMINS = db.sql`select exists (select from ${db.read('platform_users')} u join ${roles} r on r.id = u.role
      where u.id = any($1::uuid[]) and r.admin_access)
    or exists (select from ${roles} where id::text = any($2::text[]) and admin_access) as found`;

  return async (caller: Caller, collection, action, writes) => {
    if (caller.admin) return;
    const fields = AUTHORITY_FIELDS[collection];
    if (!fields) return;
    const touches = ({ values }: UserOrRoleWrite) => fields.some((name) => values[name] !== undefined);
    const keys = writes.filter((one) => action === 'delete' || touches(one)).flatMap((one) => one.keys.map(String));
    const isUsers = collection === 'platform_users';
    if (!isUsers && writes.some(({ values }) => isSubmittedTrue(values.admin_access))) throw forbidden();
    const assigned = isUsers ? writes.flatMap(({ values }) => toRoleKeys(values.role)) : [];
    if (keys.length === 0 && assigned.length === 0) return;
    const { rows } = await db.query<{ found: boolean }>(ADMINS, isUsers ? [keys, assigned] : [[], keys]);
    if (rows[0]?.found) throw forbidden();
  };
}

const toRoleKeys = (role: unknown): readonly string[] => (typeof role === 'string' ? [role.toLowerCase()] : []);

const forbidden = () => fail('FORBIDDEN', 'only an admin changes the authority of an admin');

/** Whether a submitted value is true for the items engine, which also accepts 1, '1' and 'true' for booleans. */
export const isSubmittedTrue = (value: unknown): boolean =>
  value === true || value === 'true' || value === 1 || value === '1';

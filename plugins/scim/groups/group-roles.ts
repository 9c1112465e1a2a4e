import type { Db } from '../../database/contract.ts';
import type { ItemsEngine } from '../../items/contract.ts';
import type { ScimProvider } from '../providers.ts';
import { refuse } from '../scim-error.ts';
import type { ScimRequest } from '../scim-request.ts';
import type { GroupStatements, RoleChange } from './group-statements.ts';

export interface GroupRoleDeps {
  readonly db: Db;
  readonly statements: GroupStatements;
  readonly items: Pick<ItemsEngine, 'updateMany'>;
}

/** Users whose role one write changes: fewer than any limit of a batch. */
const USERS_AT_A_TIME = 100;

/** Whether membership of the group decides roles. */
export const isMapped = (
  { roles }: ScimProvider,
  { name, externalId }: { readonly name: string; readonly externalId: string | null },
): boolean => (roles.mapping ?? []).some(([group]) => group === name || group === externalId);

/**
 * Gives users the role that the mapping decides for their groups at this moment, through the items engine as any change of a user. Users who
 * are not of the provider stay as they are. @throws 403 for admins and admin roles, unless the settings allow them
 */
export async function applyRoles(deps: GroupRoleDeps, request: ScimRequest, users: readonly string[]): Promise<void> {
  const { provider } = request;
  const changes = await readRoleChanges(deps, provider, users);
  if (!provider.allowsAdmin && changes.some(({ isAdmin }) => isAdmin))
    throw refuse(`The provider ${provider.name} may neither give admin roles nor change admins (SCIM_ALLOW_ADMIN).`);
  await writeRoles(deps, request, changes);
}

/** As `applyRoles`, but admins stay as they are, and admin roles are not given. Answers for how many users. */
export async function applyRolesExceptAdmins(
  deps: GroupRoleDeps,
  request: ScimRequest,
  users: readonly string[],
): Promise<number> {
  const { provider } = request;
  const changes = await readRoleChanges(deps, provider, users);
  const allowed = changes.filter(({ isAdmin }) => provider.allowsAdmin || !isAdmin);
  await writeRoles(deps, request, allowed);
  return changes.length - allowed.length;
}

/** The users stay as they are read until the transaction ends. */
async function readRoleChanges(
  { db, statements }: GroupRoleDeps,
  { name, roles: { mapping, byDefault } }: ScimProvider,
  users: readonly string[],
): Promise<readonly RoleChange[]> {
  if (!mapping || users.length === 0) return [];
  await db.query(statements.LOCK_USERS, [users]);
  const [groups, roles] = [mapping.map(([group]) => group), mapping.map(([, role]) => role)];
  const values = [name, [...new Set(users)], groups, roles, byDefault];
  return (await db.query<RoleChange>(statements.ROLE_CHANGES, values)).rows;
}

async function writeRoles(
  { items }: GroupRoleDeps,
  { caller }: ScimRequest,
  changes: readonly RoleChange[],
): Promise<void> {
  for (const [role, keys] of Map.groupBy(changes, (change) => change.role))
    for (let at = 0; at < keys.length; at += USERS_AT_A_TIME) {
      const part = keys.slice(at, at + USERS_AT_A_TIME).map(({ user }) => user);
      await items.updateMany(caller, 'platform_users', part, { role });
    }
}

import { type EventMeta, type EventsApi, fail } from '#kernel';
import { PUBLIC_ROLE_ID } from '../../access/contract.ts';
import { isSubmittedTrue } from '../../access/library.ts';
import { assertIpAccessList } from './assert-ip-access-list.ts';
import { assertAdminRemains } from './last-admin.ts';
import {
  eventKeysOf,
  omitFields,
  type Payload,
  setsField,
  type UserRoleWriteCheckDeps,
  type WriteCheckStatementDeps,
} from './rule-deps.ts';

const ROLES = 'platform_roles';
const PUBLIC_MAY_CHANGE = ['id', 'key', 'name', 'icon', 'description'];
const KEY = /^[a-z_][a-z0-9_]{0,254}$/;

/** Registers filters that check writes of roles, on every write path. */
export function registerRoleWriteChecks(deps: UserRoleWriteCheckDeps, events: EventsApi): void {
  events.onFilter('roles.create', (payload, meta) => filterCreate(deps, payload as Payload, meta));
  events.onFilter('roles.update', (payload, meta) => filterUpdate(deps, payload as Payload, meta));
  events.onFilter('roles.delete', (payload, meta) => filterDelete(deps, payload as readonly string[], meta));
}

const invalidRole = (reason: string, field?: string) =>
  fail('INVALID_PAYLOAD', reason, field === undefined ? {} : { field, path: [field] });

async function filterCreate(deps: UserRoleWriteCheckDeps, payload: Payload, { caller }: EventMeta): Promise<Payload> {
  await deps.access.assertAllowed(caller, 'create', ROLES);
  await deps.access.assertAuthority(caller, ROLES, 'create', [{ keys: [], values: payload }]);
  assertIpAccessList(payload.ip_access);
  const { key } = payload;
  if (key === undefined || key === null) return omitFields(payload, ['key']);
  if (key === 'public') throw invalidRole('The key "public" is reserved.', 'key');
  if (typeof key !== 'string' || !KEY.test(key)) {
    throw invalidRole('key takes lower case letters, digits and _, and does not start with a digit.', 'key');
  }
  return payload;
}

async function filterUpdate(deps: UserRoleWriteCheckDeps, payload: Payload, meta: EventMeta): Promise<Payload> {
  const keys = eventKeysOf(meta);
  await deps.access.assertAllowed(meta.caller, 'update', ROLES);
  await deps.access.assertAuthority(meta.caller, ROLES, 'update', [{ keys, values: payload }]);
  assertIpAccessList(payload.ip_access);
  if (keys.includes(PUBLIC_ROLE_ID)) {
    const field = Object.keys(payload).find((name) => !PUBLIC_MAY_CHANGE.includes(name));
    if (field !== undefined)
      throw invalidRole('Only name, icon and description of the Public role can be changed.', field);
  }
  if (setsField(payload, 'key') && !(await isKeyOf(deps, payload.key, keys))) {
    throw invalidRole('The key of a role cannot be changed.', 'key');
  }
  if (setsField(payload, 'admin_access') && !isSubmittedTrue(payload.admin_access))
    await assertAdminRemains(deps, { roles: keys });
  return omitFields(payload, ['key']);
}

async function isKeyOf(
  { db, statements }: WriteCheckStatementDeps,
  key: unknown,
  ids: readonly string[],
): Promise<boolean> {
  const { rows } = await db.query(statements.HAS_OTHER_KEY, [ids, key === null ? null : String(key)]);
  return rows.length === 0;
}

/** Deleting a role deletes its permissions and presets, and suspends its users, in one transaction. */
async function filterDelete(
  deps: UserRoleWriteCheckDeps,
  ids: readonly string[],
  { caller }: EventMeta,
): Promise<undefined> {
  const { db, statements } = deps;
  await deps.access.assertAllowed(caller, 'delete', ROLES);
  await deps.access.assertAuthority(caller, ROLES, 'delete', [{ keys: ids, values: {} }]);
  if (ids.includes(PUBLIC_ROLE_ID)) throw invalidRole('The Public role cannot be deleted.');
  await assertAdminRemains(deps, { roles: ids });
  await db.query(statements.REMOVE_PERMISSIONS, [ids]);
  const { rows } = await db.query<{ presets: string | null }>(statements.ARE_PRESETS_THERE);
  if (rows[0]?.presets) await db.query(statements.REMOVE_PRESETS, [ids]);
  await db.query(statements.SUSPEND, [ids]);
}

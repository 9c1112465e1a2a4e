import { type EventMeta, type EventsApi, fail } from '#kernel';
import { CONCEALED_VALUE_MASK, PUBLIC_ROLE_ID } from '../../access/contract.ts';
import { isSubmittedTrue } from '../../access/library.ts';
import { USER_STATUSES } from '../collections.ts';
import { assertUniqueEmailAddress } from './email.ts';
import { assertAdminRemains } from './last-admin.ts';
import {
  eventKeysOf,
  omitFields,
  type Payload,
  setsField,
  type UserRoleWriteCheckDeps,
  type WriteCheckStatementDeps,
} from './rule-deps.ts';

const USERS = 'platform_users';
const CONCEALED = ['password', 'token', 'tfa_secret', 'external_identifier', 'auth_data'];
const ADMINS_ONLY = ['provider', 'external_identifier'];

/** Registers filters that check writes of users, on every write path. */
export function registerUserWriteChecks(deps: UserRoleWriteCheckDeps, events: EventsApi): void {
  for (const verb of ['create', 'update'] as const)
    events.onFilter(`users.${verb}`, (payload, meta) => filterWrite(deps, verb, payload as Payload, meta));
  events.onFilter('users.delete', (payload, meta) => filterDelete(deps, payload, meta));
}

async function filterWrite(
  deps: UserRoleWriteCheckDeps,
  verb: 'create' | 'update',
  raw: Payload,
  meta: EventMeta,
): Promise<Payload> {
  await deps.access.assertAllowed(meta.caller, verb, USERS);
  // A client that sends back what it read sends masks, which are no values. Only the service sets `last_access`.
  const payload = omitFields(raw, [...CONCEALED.filter((name) => raw[name] === CONCEALED_VALUE_MASK), 'last_access']);
  const { caller } = meta;
  const keys = eventKeysOf(meta);
  // The caller's authority is asserted before the values are validated; the items plugin asserts it again for the stored values.
  await deps.access.assertAuthority(caller, USERS, verb, [{ keys, values: payload }]);
  // The plugin that turns second factors on and off writes it by SQL; code that acts without a user must not do so either.
  if (setsField(payload, 'tfa_secret')) throw invalidUser('tfa_secret cannot be written directly.', 'tfa_secret');
  for (const field of ADMINS_ONLY) {
    if (setsField(payload, field) && !caller.admin) throw invalidUser(`${field} can be changed by admins only.`, field);
  }
  assertValues(payload);
  if (typeof payload.password === 'string') await deps.checkPassword(payload.password);
  if (setsField(payload, 'email')) await assertUniqueEmailAddress(deps, payload.email, keys);
  if (verb === 'update' && (await losesAdmin(deps, payload))) await assertAdminRemains(deps, { users: keys });
  const cleared =
    verb === 'update' && ADMINS_ONLY.some((field) => setsField(payload, field)) && !setsField(payload, 'auth_data');
  return {
    ...payload,
    ...(payload.token === '' ? { token: null } : {}),
    // `auth_data` of one provider is invalid for another.
    ...(cleared ? { auth_data: null } : {}),
  };
}

async function filterDelete(deps: UserRoleWriteCheckDeps, payload: unknown, meta: EventMeta): Promise<undefined> {
  await deps.access.assertAllowed(meta.caller, 'delete', USERS);
  await deps.access.assertAuthority(meta.caller, USERS, 'delete', [{ keys: payload as string[], values: {} }]);
  await assertAdminRemains(deps, { users: payload as string[] });
}

const invalidUser = (reason: string, field: string) => fail('INVALID_PAYLOAD', reason, { field, path: [field] });

function assertValues({ password, status, role }: Payload): void {
  if (password !== undefined && password !== null && (typeof password !== 'string' || password === '')) {
    throw invalidUser('password must be a text that is not empty.', 'password');
  }
  if (status !== undefined && !USER_STATUSES.some((one) => one === status)) {
    throw invalidUser(`status must be one of ${USER_STATUSES.join(', ')}.`, 'status');
  }
  if (roleId(role) === PUBLIC_ROLE_ID) throw invalidUser('Users cannot have the Public role.', 'role');
}

/** The key of a role in a payload, which names it by its key or by an object with or without one. */
const roleId = (role: unknown): unknown => (typeof role === 'object' && role !== null ? (role as Payload).id : role);

/** Whether a change removes admin access or the active status of a user. */
async function losesAdmin({ db, statements }: WriteCheckStatementDeps, { status, role }: Payload): Promise<boolean> {
  if (status !== undefined && status !== 'active') return true;
  if (role === undefined) return false;
  const id = roleId(role);
  if (id === undefined && role !== null) return !isSubmittedTrue((role as Payload).admin_access);
  const { rows } = await db.query(statements.IS_ADMIN_ROLE, [String(id).toLowerCase()]);
  return rows.length === 0;
}

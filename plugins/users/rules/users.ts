import { type EventMeta, type EventsApi, fail, isSystem } from '#kernel';
import { MASK, PUBLIC_ROLE } from '../../access/contract.ts';
import { isOn } from '../../access/library.ts';
import { STATUSES } from '../collections.ts';
import { has, keysOf, type Payload, type RuleDeps, type RuleStore, without } from './change.ts';
import { checkEmail } from './email.ts';
import { keepAnAdmin } from './last-admin.ts';

const USERS = 'platform_users';
const CONCEALED = ['password', 'token', 'tfa_secret', 'external_identifier', 'auth_data'];
const ADMINS_ONLY = ['provider', 'external_identifier'];

/** What holds for users whoever writes them, and by whichever way. */
export function userRules(deps: RuleDeps, events: EventsApi): void {
  for (const verb of ['create', 'update'] as const)
    events.onFilter(`users.${verb}`, (payload, meta) => written(deps, verb, payload as Payload, meta));
  events.onFilter('users.delete', (payload, meta) => deleted(deps, payload, meta));
}

async function written(deps: RuleDeps, verb: 'create' | 'update', raw: Payload, meta: EventMeta): Promise<Payload> {
  await deps.access.demand(meta.caller, verb, USERS);
  // A client that sends back what it read sends masks; they say nothing. The service alone says when a user was there.
  const payload = without(raw, [...CONCEALED.filter((name) => raw[name] === MASK), 'last_access']);
  const { caller } = meta;
  const keys = keysOf(meta);
  // Before anything is said of the values: the engine asks it again of those that are stored.
  await deps.access.assertAuthority(caller, USERS, verb, [{ keys, values: payload }]);
  if (has(payload, 'tfa_secret') && !isSystem(caller))
    throw refused('tfa_secret cannot be written directly.', 'tfa_secret');
  for (const field of ADMINS_ONLY) {
    if (has(payload, field) && !caller.admin) throw refused(`${field} can be changed by admins only.`, field);
  }
  checkValues(payload);
  if (typeof payload.password === 'string') await deps.checkPassword(payload.password);
  if (has(payload, 'email')) await checkEmail(deps, payload.email, keys);
  if (verb === 'update' && (await losesAdmin(deps, payload))) await keepAnAdmin(deps, { users: keys });
  const cleared = verb === 'update' && ADMINS_ONLY.some((field) => has(payload, field)) && !has(payload, 'auth_data');
  return {
    ...payload,
    ...(payload.token === '' ? { token: null } : {}),
    // What a provider stored is of no use to another one.
    ...(cleared ? { auth_data: null } : {}),
  };
}

async function deleted(deps: RuleDeps, payload: unknown, meta: EventMeta): Promise<undefined> {
  await deps.access.demand(meta.caller, 'delete', USERS);
  await deps.access.assertAuthority(meta.caller, USERS, 'delete', [{ keys: payload as string[], values: {} }]);
  await keepAnAdmin(deps, { users: payload as string[] });
}

const refused = (reason: string, field: string) => fail('INVALID_PAYLOAD', reason, { field, path: [field] });

function checkValues({ password, status, role }: Payload): void {
  if (password !== undefined && password !== null && (typeof password !== 'string' || password === '')) {
    throw refused('password must be a text that is not empty.', 'password');
  }
  if (status !== undefined && !STATUSES.some((one) => one === status)) {
    throw refused(`status must be one of ${STATUSES.join(', ')}.`, 'status');
  }
  if (roleId(role) === PUBLIC_ROLE) throw refused('Users cannot have the Public role.', 'role');
}

/** A role comes as a key or as an object with or without one. */
const roleId = (role: unknown): unknown => (typeof role === 'object' && role !== null ? (role as Payload).id : role);

/** Would an admin changed like this be one no more? */
async function losesAdmin({ db, statements }: RuleStore, { status, role }: Payload): Promise<boolean> {
  if (status !== undefined && status !== 'active') return true;
  if (role === undefined) return false;
  const id = roleId(role);
  if (id === undefined && role !== null) return !isOn((role as Payload).admin_access);
  const { rows } = await db.query(statements.IS_ADMIN_ROLE, [String(id).toLowerCase()]);
  return rows.length === 0;
}

import type { Db } from '../../database/contract.ts';
import type { ItemsEngine } from '../../items/contract.ts';
import type { ScimProvider } from '../providers.ts';
import { refuse, scimFailure, withUniqueNames } from '../scim-error.ts';
import { assertVersion, notFound, type ScimRequest } from '../scim-request.ts';
import { toEmail, type UserChanges } from './user-attributes.ts';
import type { StoredUser, UserStatements } from './user-statements.ts';

export const USERS = 'platform_users';

export interface UserDeps {
  readonly db: Db;
  readonly statements: UserStatements;
  readonly items: Pick<ItemsEngine, 'createOne' | 'updateOne' | 'deleteMany'>;
}

type NewUser = UserChanges & { readonly userName: string };

/** Status of users who have not answered the mail of their invitation or registration. */
const PENDING: readonly string[] = ['invited', 'unverified'];

/** Creates a user, or takes over a local one with the same address where the settings say so. Answers its key. @throws 400, 403, 409 */
export async function createUser(deps: UserDeps, request: ScimRequest, user: NewUser): Promise<string> {
  const { db, statements, items } = deps;
  const { provider, caller } = request;
  const work = () =>
    db.transaction(async () => {
      await assertUserNameIsFree(deps, provider, user.userName, null);
      const local = await findLocalUser(deps, provider, user);
      if (local) return takeOver(deps, request, local, user);
      const role = provider.roles.byDefault;
      await assertRoleAllowed(deps, provider, role);
      const { active = true, externalId = null } = user;
      // A new user without a language has that of the settings.
      const language = user.preferredLanguage ?? undefined;
      const id = await items.createOne(caller, USERS, {
        ...toUserFields({ ...user, preferredLanguage: language }),
        role,
        status: active ? 'active' : 'suspended',
        provider: provider.name,
        external_identifier: externalId,
      });
      await db.query(statements.STORE, [id, provider.name, user.userName, user.displayName ?? null]);
      return String(id);
    });
  return withUniqueNames('userName', work);
}

/** Changes a user of the provider by what `decide` makes of its address. @throws 400, 403, 404, 409, 412 */
export async function changeUser(
  { db, statements, items }: UserDeps,
  request: ScimRequest,
  id: string,
  decide: (user: Pick<StoredUser, 'email'>) => UserChanges,
): Promise<void> {
  const { provider, caller } = request;
  const mayRemoveAdmin = decide({ email: null }).active === false;
  const work = () =>
    db.transaction(async () => {
      const user = await lockUser({ db, statements }, request, id, mayRemoveAdmin);
      const changes = followUserName(user, decide(user));
      const fields = differencesOf(user, { ...toUserFields(changes), ...toStatus(user, changes) });
      const userName = changes.userName ?? user.userName;
      const displayName = changes.displayName === undefined ? user.displayName : changes.displayName;
      const hasNewName = userName !== user.userName || displayName !== user.displayName;
      if (userName !== user.userName) await assertUserNameIsFree({ db, statements }, provider, userName, id);
      if (Object.keys(fields).length === 0 && !hasNewName) return;
      if (user.isAdmin && !provider.allowsAdmin) throw refuseAdmin(provider);
      if (Object.keys(fields).length > 0) await items.updateOne(caller, USERS, id, fields);
      await db.query(statements.STORE, [id, provider.name, userName, displayName]);
    });
  await withUniqueNames('userName', work);
}

/** @throws 403, 404, 409 for a user whom rows refer to that must have one, 412 */
export async function deleteUser({ db, statements, items }: UserDeps, request: ScimRequest, id: string): Promise<void> {
  await db.transaction(async () => {
    const user = await lockUser({ db, statements }, request, id, true);
    if (user.isAdmin && !request.provider.allowsAdmin) throw refuseAdmin(request.provider);
    await items.deleteMany(request.caller, USERS, [id]);
  });
}

/** Reads a user who stays as it is until the transaction ends: what is checked is what is written. @throws 404, 412 */
async function lockUser(
  { db, statements }: Pick<UserDeps, 'db' | 'statements'>,
  request: ScimRequest,
  id: string,
  mayRemoveAdmin: boolean,
): Promise<StoredUser> {
  if (mayRemoveAdmin) await db.query(statements.LOCK_LAST_ADMIN);
  await db.query(statements.LOCK_ROW, [id]);
  const [user] = (await db.query<StoredUser>(statements.BY_ID, [request.provider.name, id])).rows;
  if (!user) throw notFound(id);
  assertVersion(request, user.version);
  return user;
}

/** The address of a user whose provider sends none beside the user name changes with it. */
function followUserName(user: StoredUser, changes: UserChanges): UserChanges {
  const { userName, email } = changes;
  const isFollowing = userName !== undefined && email === undefined && user.email === toEmail(user.userName);
  return isFollowing ? { ...changes, email: toEmail(userName) } : changes;
}

/** Fields of `platform_users`; undefined ones stay as they are. */
const toUserFields = (changes: UserChanges): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries({
      first_name: changes.givenName,
      last_name: changes.familyName,
      title: changes.title,
      language: changes.preferredLanguage,
      email: changes.email,
      external_identifier: changes.externalId,
    }).filter(([, value]) => value !== undefined),
  );

/** @throws 403 for an archived user, whom only an admin of the service makes active. */
function toStatus({ status }: StoredUser, { active }: UserChanges): Record<string, unknown> {
  if (active === undefined || active === (status === 'active')) return {};
  if (!active) return { status: 'suspended' };
  if (status === 'archived')
    throw refuse('The user is archived in the service, where an administrator can make it active.');
  return { status: 'active' };
}

/** Who waited for a mail to be answered waits no more: where the provider says nothing, its users are active. */
const statusOfTakenOver = (local: StoredUser, user: NewUser): Record<string, unknown> =>
  PENDING.includes(local.status) ? { status: user.active === false ? 'suspended' : 'active' } : toStatus(local, user);

function differencesOf(user: StoredUser, fields: Record<string, unknown>): Record<string, unknown> {
  const before: Record<string, unknown> = { ...user, external_identifier: user.externalId };
  return Object.fromEntries(Object.entries(fields).filter(([name, value]) => value !== before[name]));
}

/** Users without a row of SCIM have a name as well, which no constraint knows. @throws 409 */
async function assertUserNameIsFree(
  { db, statements }: Pick<UserDeps, 'db' | 'statements'>,
  provider: ScimProvider,
  userName: string,
  id: string | null,
): Promise<void> {
  const { count } = await db.query(statements.HAS_USER_NAME, [provider.name, userName, id]);
  if (count > 0) throw scimFailure(409, 'Another user has this userName.', 'uniqueness');
}

async function findLocalUser(
  { db, statements }: UserDeps,
  provider: ScimProvider,
  { email, active }: NewUser,
): Promise<StoredUser | undefined> {
  if (!provider.linksLocalUsers || !email) return undefined;
  if (active === false) await db.query(statements.LOCK_LAST_ADMIN);
  await db.query(statements.LOCK_LOCAL_ROW, [email]);
  const [local] = (await db.query<StoredUser>(statements.LOCAL_BY_EMAIL, [email])).rows;
  if (local?.isAdmin && !provider.allowsAdmin) throw refuseAdmin(provider);
  return local;
}

/**
 * A local user becomes one of the provider, and keeps its role and what the provider does not send. Its user may be another person
 * than the provider means, since users can change their addresses: sessions, password and static token end.
 */
async function takeOver(
  { db, statements, items }: UserDeps,
  { provider, caller }: ScimRequest,
  local: StoredUser,
  user: NewUser,
): Promise<string> {
  const sent = Object.entries(toUserFields(user)).filter(([, value]) => value !== null);
  await items.updateOne(caller, USERS, local.id, {
    ...Object.fromEntries(sent),
    ...statusOfTakenOver(local, user),
    provider: provider.name,
    external_identifier: user.externalId ?? null,
    password: null,
    token: null,
  });
  await db.query(statements.STORE, [local.id, provider.name, user.userName, user.displayName ?? null]);
  return local.id;
}

/** @throws 403 for an admin role that the provider may not give */
export async function assertRoleAllowed(
  { db, statements }: Pick<UserDeps, 'db' | 'statements'>,
  provider: ScimProvider,
  role: string | null,
): Promise<void> {
  if (role === null || provider.allowsAdmin) return;
  const { count } = await db.query(statements.IS_ADMIN_ROLE, [role]);
  if (count > 0) throw refuseAdmin(provider);
}

const refuseAdmin = ({ name }: ScimProvider) =>
  refuse(`The provider ${name} may not manage admins (SCIM_ALLOW_ADMIN).`);

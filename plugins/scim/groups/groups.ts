import type { Db } from '../../database/contract.ts';
import { invalidValue } from '../body.ts';
import { isComplex } from '../filter/attributes.ts';
import { compileScimFilter, FilterValues } from '../filter/compile-filter.ts';
import type { ScimFilter } from '../filter/filter-tree.ts';
import type { ResourceSql } from '../resource-sql.ts';
import { withUniqueNames } from '../scim-error.ts';
import { assertVersion, notFound, type ScimRequest } from '../scim-request.ts';
import type { GroupContent } from './group-attributes.ts';
import type { GroupChange } from './group-patch.ts';
import { applyRoles, applyRolesExceptAdmins, type GroupRoleDeps, isMapped } from './group-roles.ts';
import type { StoredGroup } from './group-statements.ts';

export interface GroupDeps extends GroupRoleDeps {
  readonly db: Db;
  readonly resource: ResourceSql;
}

/** Creates a group with its members, and gives them its role. Answers its key. @throws 400, 403, 409 */
export const createGroup = (deps: GroupDeps, request: ScimRequest, group: GroupContent): Promise<string> =>
  inGroupsOfProvider(deps, request, async () => {
    const { name, externalId = null, members } = group;
    const hasRole = isMapped(request.provider, { name, externalId });
    const values = [request.provider.name, name, externalId, hasRole];
    const [created] = (await deps.db.query<{ id: string }>(deps.statements.CREATE, values)).rows;
    const id = created?.id as string;
    const added = await addMembers(deps, request, id, members);
    await applyRoles(deps, request, hasRole ? added : []);
    return id;
  });

/** Makes the changes of a group in their order, and gives its members their roles. @throws 400, 403, 404, 409, 412 */
export const changeGroup = (
  deps: GroupDeps,
  request: ScimRequest,
  id: string,
  changes: readonly GroupChange[],
): Promise<void> =>
  inGroupsOfProvider(deps, request, async () => {
    const before = await findGroup(deps, request, id);
    let after = before;
    const affected = new Set<string>();
    for (const change of changes) {
      if (change.kind === 'name') after = { ...after, name: change.name };
      else if (change.kind === 'externalId') after = { ...after, externalId: change.externalId };
      else for (const user of await changeMembers(deps, request, id, change)) affected.add(user);
    }
    const hasNewName = after.name !== before.name || after.externalId !== before.externalId;
    if (!hasNewName && affected.size === 0) return;
    const { provider } = request;
    const hasRole = isMapped(provider, after);
    await deps.db.query(deps.statements.UPDATE, [id, after.name, after.externalId, hasRole]);
    if (!isMapped(provider, before) && !hasRole) return;
    const all = hasNewName ? [...affected, ...(await readMembers(deps, id))] : [...affected];
    await applyRoles(deps, request, all);
  });

/** @throws 403, 404, 412 */
export const deleteGroup = (deps: GroupDeps, request: ScimRequest, id: string): Promise<void> =>
  inGroupsOfProvider(deps, request, async () => {
    const group = await findGroup(deps, request, id);
    const members = isMapped(request.provider, group) ? await readMembers(deps, id) : [];
    await deps.db.query(deps.statements.DELETE, [id]);
    await applyRoles(deps, request, members);
  });

/** What PUT asks for. */
export const toGroupChanges = ({ name, externalId, members }: GroupContent): readonly GroupChange[] => [
  { kind: 'name', name },
  ...(externalId === undefined ? [] : [{ kind: 'externalId', externalId } as const]),
  { kind: 'replace', members },
];

/**
 * Gives members of groups the roles of a mapping that has changed since roles were last given, except where that is about admins. Answers
 * for how many users it is.
 */
export const applyMapping = (deps: GroupDeps, request: ScimRequest): Promise<number> =>
  inGroupsOfProvider(deps, request, async () => {
    const { db, statements } = deps;
    const { name, roles } = request.provider;
    const values = [name, (roles.mapping ?? []).map(([group]) => group)];
    const members = usersOf(await db.query<UserRow>(statements.MEMBERS_OF_MAPPED, values));
    const admins = await applyRolesExceptAdmins(deps, request, members);
    await db.query(statements.STORE_MAPPED, values);
    return admins;
  });

function inGroupsOfProvider<T>({ db, statements }: GroupDeps, { provider }: ScimRequest, work: () => Promise<T>) {
  return withUniqueNames('displayName', () =>
    db.transaction(async () => {
      await db.query(statements.LOCK, [JSON.stringify(['scim groups', provider.name])]);
      if (provider.roles.mapping) await db.query(statements.LOCK_LAST_ADMIN);
      return work();
    }),
  );
}

async function findGroup({ db, statements }: GroupDeps, request: ScimRequest, id: string): Promise<StoredGroup> {
  const [group] = (await db.query<StoredGroup>(statements.BY_ID, [request.provider.name, id])).rows;
  if (!group) throw notFound(id);
  assertVersion(request, group.version);
  return group;
}

type MemberChange = Exclude<GroupChange, { kind: 'name' | 'externalId' }>;

/** Answers the users who became members, or no longer are. */
async function changeMembers(
  deps: GroupDeps,
  request: ScimRequest,
  id: string,
  change: MemberChange,
): Promise<readonly string[]> {
  const { db, statements } = deps;
  switch (change.kind) {
    case 'add':
      return addMembers(deps, request, id, change.members);
    case 'remove':
      return usersOf(await db.query<UserRow>(statements.REMOVE, [id, change.members]));
    case 'removeMatching':
      return removeMatching(deps, id, change.filter);
    default: {
      const removed = usersOf(await db.query<UserRow>(statements.REMOVE_OTHERS, [id, change.members]));
      return [...removed, ...(await addMembers(deps, request, id, change.members))];
    }
  }
}

interface UserRow {
  readonly user: string;
}
const usersOf = ({ rows }: { readonly rows: readonly UserRow[] }): readonly string[] => rows.map(({ user }) => user);

/** @throws 400 `invalidValue` for a key that is no user of the provider */
async function addMembers(
  { db, statements }: GroupDeps,
  { provider }: ScimRequest,
  id: string,
  members: readonly string[],
): Promise<readonly string[]> {
  if (members.length === 0) return [];
  const [unknown] = (await db.query<{ id: string }>(statements.UNKNOWN_USERS, [provider.name, members])).rows;
  if (unknown) throw invalidValue(`The member ${unknown.id} is no user of this provider.`);
  return usersOf(await db.query<UserRow>(statements.ADD, [id, members]));
}

/** Removes the members that match a filter of the sub-attributes of `members`. @throws 400 `invalidFilter` */
async function removeMatching({ db, resource }: GroupDeps, id: string, filter: ScimFilter): Promise<readonly string[]> {
  const attribute = resource.attributes.known.members;
  if (!attribute || !isComplex(attribute)) throw new Error('groups have no members');
  const values = new FilterValues(db, db.sql`$2`);
  const attributes = { ...resource.attributes, known: attribute.subs };
  const condition = compileScimFilter(db, filter, attributes, values);
  const statement = db.sql`delete from ${db.own('platform_scim_members')} m
    where m."group" = $1 and $2::text[] is not null and ${condition} returning m."user"`;
  return usersOf(await db.query<UserRow>(statement, [id, values.texts]));
}

async function readMembers({ db, statements }: GroupDeps, id: string): Promise<readonly string[]> {
  return usersOf(await db.query<UserRow>(statements.MEMBERS, [id]));
}

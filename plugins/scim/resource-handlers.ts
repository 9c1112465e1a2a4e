import type { Db } from '../database/contract.ts';
import type { AttributeSelection } from './attribute-selection.ts';
import { parseGroup } from './groups/group-attributes.ts';
import { parseGroupPatch } from './groups/group-patch.ts';
import { changeGroup, createGroup, deleteGroup, type GroupDeps, toGroupChanges } from './groups/groups.ts';
import { type ListRequest, MAX_RESULTS } from './list-request.ts';
import { type RenderedResource, type ResourceSql, readResource, readResourceList } from './resource-sql.ts';
import { notFound, type ScimRequest } from './scim-request.ts';
import { parseUser } from './users/user-attributes.ts';
import { parseUserPatch } from './users/user-patch.ts';
import { changeUser, createUser, deleteUser, type UserDeps } from './users/users.ts';

/** What the routes of one kind of resource do. `body` is what the client sent, unchecked; ids are keys. */
export interface ResourceHandlers {
  /** @throws 400 */
  list(request: ScimRequest, query: ListRequest): Promise<string>;
  /** @throws 404 */
  read(request: ScimRequest, id: string, selection: AttributeSelection): Promise<RenderedResource>;
  /** Answers the key. @throws 400, 403, 409 */
  create(request: ScimRequest, body: unknown): Promise<string>;
  /** @throws 400, 403, 404, 409, 412 */
  replace(request: ScimRequest, id: string, body: unknown): Promise<void>;
  /** As `replace`. */
  patch(request: ScimRequest, id: string, body: unknown): Promise<void>;
  /** @throws 403, 404, 412 */
  remove(request: ScimRequest, id: string): Promise<void>;
}

/** Groups with their members in one answer: each may have thousands. */
const MAX_GROUPS_WITH_MEMBERS = 20;

const createReads = (
  db: Db,
  resourceOf: (request: ScimRequest) => ResourceSql,
  mostOf: (query: ListRequest) => number,
): Pick<ResourceHandlers, 'list' | 'read'> => ({
  list: (request, query) =>
    readResourceList(db, resourceOf(request), {
      provider: request.provider.name,
      base: request.base,
      request: query,
      most: mostOf(query),
    }),
  async read(request, id, selection) {
    const { provider, base } = request;
    const found = await readResource(db, resourceOf(request), { provider: provider.name, base, id, selection });
    if (!found) throw notFound(id);
    return found;
  },
});

export const createUserHandlers = (
  deps: UserDeps,
  resourceOf: (request: ScimRequest) => ResourceSql,
): ResourceHandlers => ({
  ...createReads(deps.db, resourceOf, () => MAX_RESULTS),
  create: async (request, body) => createUser(deps, request, parseUser(body)),
  async replace(request, id, body) {
    const user = parseUser(body);
    await changeUser(deps, request, id, () => user);
  },
  patch: (request, id, body) => changeUser(deps, request, id, ({ email }) => parseUserPatch(body, email)),
  remove: (request, id) => deleteUser(deps, request, id),
});

export const createGroupHandlers = (deps: GroupDeps): ResourceHandlers => ({
  ...createReads(
    deps.db,
    () => deps.resource,
    ({ selection }) => (selection.has('members') ? MAX_GROUPS_WITH_MEMBERS : MAX_RESULTS),
  ),
  create: async (request, body) => createGroup(deps, request, parseGroup(body)),
  replace: async (request, id, body) => changeGroup(deps, request, id, toGroupChanges(parseGroup(body))),
  patch: async (request, id, body) => changeGroup(deps, request, id, parseGroupPatch(body)),
  remove: (request, id) => deleteGroup(deps, request, id),
});

import type { PatchPath, ScimFilter } from '../filter/filter-tree.ts';
import { type PatchOperation, parsePatchOperations } from '../patch-operations.ts';
import { scimFailure } from '../scim-error.ts';
import { isId } from '../scim-request.ts';
import { GROUP_SCHEMA } from '../scim-schemas.ts';
import { parseGroupExternalId, parseGroupName, parseMembers } from './group-attributes.ts';

/** One change of a group, in the order of the request. */
export type GroupChange =
  | { readonly kind: 'name'; readonly name: string }
  | { readonly kind: 'externalId'; readonly externalId: string | null }
  | { readonly kind: 'add' | 'remove' | 'replace'; readonly members: readonly string[] }
  /** Removes the members that match. */
  | { readonly kind: 'removeMatching'; readonly filter: ScimFilter };

/** @throws 400 */
export const parseGroupPatch = (body: unknown): readonly GroupChange[] =>
  mergeMembers(parsePatchOperations(body).flatMap(toChange));

function toChange({ op, path, value }: PatchOperation): readonly GroupChange[] {
  const { schema, name, sub, filter } = path;
  if ((schema !== undefined && schema !== GROUP_SCHEMA.toLowerCase()) || (sub !== undefined && sub !== 'value'))
    throw unknownPath(path);
  // Okta sends the id of the group beside its new name.
  if (name === 'id' || name === 'schemas') return [];
  if (name === 'meta') throw scimFailure(400, '"meta" is read only.', 'mutability');
  if (name === 'members') return [toMemberChange(op, filter, value)];
  if (filter) throw unknownPath(path);
  if (name === 'displayname') return [{ kind: 'name', name: parseGroupName(op === 'remove' ? null : value) }];
  if (name === 'externalid')
    return [{ kind: 'externalId', externalId: parseGroupExternalId(op === 'remove' ? null : value) }];
  throw unknownPath(path);
}

function toMemberChange(op: PatchOperation['op'], filter: ScimFilter | undefined, value: unknown): GroupChange {
  if (filter && op !== 'remove')
    throw scimFailure(400, 'Members are added and removed; their values cannot change.', 'mutability');
  if (filter) return toRemoval(filter);
  // Entra ID sends the members to remove as a value; without one all are.
  if (op === 'remove' && (value === undefined || value === null)) return { kind: 'replace', members: [] };
  return { kind: op, members: parseMembers(value ?? []) };
}

/** `members[value eq "…"]` names one member, as Okta and Entra ID send it; any other filter is compared with all of them. */
function toRemoval(filter: ScimFilter): GroupChange {
  const isOfOne = filter.kind === 'compare' && filter.operator === 'eq' && filter.path.name === 'value';
  if (!isOfOne) return { kind: 'removeMatching', filter };
  return { kind: 'remove', members: isId(filter.value) ? [filter.value.toLowerCase()] : [] };
}

/** Many operations of one kind, as Entra ID sends one for each member, are one change. */
function mergeMembers(changes: readonly GroupChange[]): readonly GroupChange[] {
  const merged: GroupChange[] = [];
  for (const change of changes) {
    const last = merged.at(-1);
    const isSameKind = (change.kind === 'add' || change.kind === 'remove') && last?.kind === change.kind;
    if (isSameKind) merged[merged.length - 1] = { kind: change.kind, members: [...last.members, ...change.members] };
    else merged.push(change);
  }
  return merged;
}

const unknownPath = ({ name, sub }: PatchPath) =>
  scimFailure(400, `There is no attribute "${sub === undefined ? name : `${name}.${sub}`}" to change.`, 'invalidPath');

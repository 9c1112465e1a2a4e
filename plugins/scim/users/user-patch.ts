import { invalidValue } from '../body.ts';
import type { PatchPath } from '../filter/filter-tree.ts';
import { matchesFilter } from '../filter/matches.ts';
import { type PatchOperation, parsePatchOperations } from '../patch-operations.ts';
import { scimFailure } from '../scim-error.ts';
import { ENTERPRISE_USER_SCHEMA, USER_ATTRIBUTES_NOT_KEPT, USER_SCHEMA } from '../scim-schemas.ts';
import { parseEmail, parseEmails, setNamePart, setUserAttribute, type UserChanges } from './user-attributes.ts';

const READ_ONLY: ReadonlySet<string> = new Set(['id', 'meta', 'groups']);
const SIMPLE: ReadonlySet<string> = new Set([
  'username',
  'externalid',
  'displayname',
  'title',
  'preferredlanguage',
  'active',
]);
const NAME_PARTS: ReadonlySet<string> = new Set(['formatted', 'givenname', 'familyname']);
const NAME_PARTS_NOT_KEPT: ReadonlySet<string> = new Set(['middlename', 'honorificprefix', 'honorificsuffix']);
const EMAIL_PARTS: ReadonlySet<string> = new Set(['value', 'type', 'primary', 'display']);

/** What a PATCH of a user sets. `email` is the address before it. @throws 400 */
export function parseUserPatch(body: unknown, email: string | null): UserChanges {
  const changes: UserChanges = {};
  for (const operation of parsePatchOperations(body)) applyOperation(changes, operation, email);
  return changes;
}

function applyOperation(changes: UserChanges, { op, path, value }: PatchOperation, before: string | null): void {
  const { schema, name, sub, filter } = path;
  if (schema === ENTERPRISE_USER_SCHEMA.toLowerCase()) return;
  if (schema !== undefined && schema !== USER_SCHEMA.toLowerCase()) throw unknownPath(path);
  if (READ_ONLY.has(name)) throw scimFailure(400, `"${name}" is read only.`, 'mutability');
  if (name === 'schemas' || USER_ATTRIBUTES_NOT_KEPT.has(name)) return;
  const isRemoval = op === 'remove';
  if (name === 'emails') {
    applyToEmail(changes, { op, path, value }, before);
    return;
  }
  if (filter) throw unknownPath(path);
  if (name === 'name' && sub !== undefined) {
    if (NAME_PARTS.has(sub)) setNamePart(changes, sub, isRemoval ? null : value);
    else if (!NAME_PARTS_NOT_KEPT.has(sub)) throw unknownPath(path);
    return;
  }
  if (sub !== undefined || !(name === 'name' || SIMPLE.has(name))) throw unknownPath(path);
  if (isRemoval && (name === 'username' || name === 'active')) throw invalidValue(`"${name}" cannot be removed.`);
  setUserAttribute(changes, name, isRemoval ? null : value);
}

/** A user has one address, of the type work. Operations on other addresses change nothing. */
function applyToEmail(changes: UserChanges, { op, path, value }: PatchOperation, before: string | null): void {
  const { filter, sub } = path;
  const current = changes.email === undefined ? before : changes.email;
  if (sub !== undefined && !EMAIL_PARTS.has(sub)) throw unknownPath(path);
  if (filter && !matchesFilter(filter, { value: current, type: 'work', primary: true })) return;
  // The address is of the type work and the primary one, whatever is said of that.
  if (sub !== undefined && sub !== 'value') return;
  if (op === 'remove') changes.email = null;
  else changes.email = sub === 'value' ? parseEmail(value) : parseEmails(value, op === 'add' ? current : null);
}

const unknownPath = ({ name, sub }: PatchPath) =>
  scimFailure(400, `There is no attribute "${sub === undefined ? name : `${name}.${sub}`}" to change.`, 'invalidPath');

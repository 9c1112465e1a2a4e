import { invalidSyntax, isObject, lowerCaseMembers, parseScimBody } from './body.ts';
import type { PatchPath } from './filter/filter-tree.ts';
import { parsePatchPath } from './filter/parse-filter.ts';
import { scimFailure } from './scim-error.ts';
import { ENTERPRISE_USER_SCHEMA, GROUP_SCHEMA, USER_SCHEMA } from './scim-schemas.ts';

export const PATCH_SCHEMA = 'urn:ietf:params:scim:api:messages:2.0:PatchOp';
const MAX_OPERATIONS = 1000;
const SCHEMAS: ReadonlySet<string> = new Set(
  [USER_SCHEMA, ENTERPRISE_USER_SCHEMA, GROUP_SCHEMA].map((one) => one.toLowerCase()),
);

/** One change of one attribute. An operation without a path is one for each member of its value. */
export interface PatchOperation {
  readonly op: 'add' | 'remove' | 'replace';
  readonly path: PatchPath;
  readonly value: unknown;
}

/**
 * Parses the body of PATCH (RFC 7644, section 3.5.2). Names of operations are taken in any case, and members of a value without a path
 * may be paths, as Entra ID sends both. @throws 400 `invalidSyntax`, `invalidPath`, `noTarget`
 */
export function parsePatchOperations(body: unknown): readonly PatchOperation[] {
  const operations = parseScimBody(body, PATCH_SCHEMA).get('operations');
  if (!Array.isArray(operations) || operations.length === 0 || operations.length > MAX_OPERATIONS)
    throw invalidSyntax(`"Operations" must be a list of 1 to ${MAX_OPERATIONS} operations.`);
  const parsed = operations.flatMap(parseOperation);
  if (parsed.length > MAX_OPERATIONS)
    throw invalidSyntax(`The request changes more than ${MAX_OPERATIONS} attributes.`);
  return parsed;
}

function parseOperation(operation: unknown): readonly PatchOperation[] {
  if (!isObject(operation)) throw invalidSyntax('An operation must be an object.');
  const members = lowerCaseMembers(operation);
  const [op, path, value] = [members.get('op'), members.get('path'), members.get('value')];
  const verb = typeof op === 'string' ? op.toLowerCase() : undefined;
  if (verb !== 'add' && verb !== 'remove' && verb !== 'replace')
    throw invalidSyntax('"op" must be "add", "remove" or "replace".');
  if (path !== undefined && path !== null && path !== '') {
    if (typeof path !== 'string') throw scimFailure(400, '"path" must be a text.', 'invalidPath');
    if (verb === 'remove') return [{ op: verb, path: parsePatchPath(path), value }];
    if (value === undefined) throw invalidSyntax(`"${verb}" needs a value.`);
    return parseMember(verb, path, value);
  }
  if (verb === 'remove') throw scimFailure(400, '"remove" needs a path.', 'noTarget');
  if (!isObject(value)) throw invalidSyntax(`"${verb}" without a path needs an object of attributes.`);
  return Object.entries(value).flatMap(([name, one]) => parseMember(verb, name, one));
}

/** A path, or a member of a value without one: an attribute, a path, or the URN of a schema with an object of attributes. */
function parseMember(op: 'add' | 'replace', name: string, value: unknown): readonly PatchOperation[] {
  if (SCHEMAS.has(name.toLowerCase()) && isObject(value))
    return Object.entries(value).map(([sub, one]) => ({ op, path: parsePatchPath(`${name}:${sub}`), value: one }));
  return [{ op, path: parsePatchPath(name), value }];
}

import {
  invalidValue,
  isObject,
  lowerCaseMembers,
  parseNullableText,
  parseRequiredText,
  parseScimBody,
} from '../body.ts';
import { MAX_NAME } from '../collections.ts';
import { isId } from '../scim-request.ts';
import { GROUP_SCHEMA } from '../scim-schemas.ts';

/** A group as POST and PUT send it; `externalId` is undefined where the request has none. */
export interface GroupContent {
  readonly name: string;
  readonly externalId: string | null | undefined;
  readonly members: readonly string[];
}

/** @throws 400 */
export function parseGroup(body: unknown): GroupContent {
  const members = parseScimBody(body, GROUP_SCHEMA);
  const externalId = members.get('externalid');
  return {
    name: parseGroupName(members.get('displayname')),
    externalId: externalId === undefined ? undefined : parseGroupExternalId(externalId),
    members: parseMembers(members.get('members') ?? []),
  };
}

export const parseGroupName = (value: unknown): string => parseRequiredText('displayName', value, MAX_NAME);
export const parseGroupExternalId = (value: unknown): string | null => parseNullableText('externalId', value, MAX_NAME);

/** Keys of users, each once. @throws 400 `invalidValue` */
export function parseMembers(value: unknown): readonly string[] {
  const ids = [value].flat().map((one) => {
    const id = isObject(one) ? lowerCaseMembers(one).get('value') : one;
    if (!isId(id)) throw invalidValue('"members" has a value that is no id of a user.');
    return id.toLowerCase();
  });
  return [...new Set(ids)];
}

import {
  invalidValue,
  isObject,
  lowerCaseMembers,
  parseBoolean,
  parseNullableText,
  parseRequiredText,
  parseScimBody,
} from '../body.ts';
import { MAX_NAME } from '../collections.ts';
import { USER_SCHEMA } from '../scim-schemas.ts';

/** What a request sets of a user; undefined members stay as they are. */
export interface UserChanges {
  userName?: string;
  externalId?: string | null;
  displayName?: string | null;
  givenName?: string | null;
  familyName?: string | null;
  title?: string | null;
  preferredLanguage?: string | null;
  email?: string | null;
  active?: boolean;
}

/** Characters of the columns of `platform_users`. */
const LENGTHS = { name: 50, title: 50, language: 255, email: 128, externalId: 255 } as const;
const ADDRESS = /^[^\s@]+@[^\s@]+$/;

/** A user name that is an e-mail address, for users whose provider sends no other. */
export const toEmail = (userName: string): string | null =>
  userName.length <= LENGTHS.email && ADDRESS.test(userName) ? userName : null;

/** Reads a whole user, as POST and PUT send it: what is missing is null, except `externalId` and `active`. @throws 400 */
export function parseUser(body: unknown): UserChanges & { readonly userName: string } {
  const members = parseScimBody(body, USER_SCHEMA);
  const changes: UserChanges = {
    displayName: null,
    givenName: null,
    familyName: null,
    title: null,
    preferredLanguage: null,
  };
  for (const [name, value] of members) if (name !== 'username') setUserAttribute(changes, name, value);
  const userName = parseRequiredText('userName', members.get('username'), MAX_NAME);
  return { email: toEmail(userName), ...changes, userName };
}

/** Sets an attribute; attributes that the service does not keep, and those that it makes itself, change nothing. @throws 400 */
export function setUserAttribute(changes: UserChanges, name: string, value: unknown): void {
  switch (name) {
    case 'username':
      changes.userName = parseRequiredText('userName', value, MAX_NAME);
      break;
    case 'externalid':
      changes.externalId = parseNullableText('externalId', value, LENGTHS.externalId);
      break;
    case 'displayname':
      changes.displayName = parseNullableText('displayName', value, MAX_NAME);
      break;
    case 'title':
      changes.title = parseNullableText('title', value, LENGTHS.title);
      break;
    case 'preferredlanguage':
      changes.preferredLanguage = parseNullableText('preferredLanguage', value, LENGTHS.language);
      break;
    case 'active':
      changes.active = value === null ? false : parseBoolean('active', value);
      break;
    case 'name':
      setName(changes, value);
      break;
    case 'emails':
      changes.email = parseEmails(value);
      break;
  }
}

function setName(changes: UserChanges, value: unknown): void {
  if (value !== null && !isObject(value)) throw invalidValue('"name" must be an object.');
  const parts =
    value === null ? [['givenname', null] as const, ['familyname', null] as const] : lowerCaseMembers(value);
  for (const [sub, text] of parts) setNamePart(changes, sub, text);
}

/** Sets a part of the name. `formatted` is made of the others. @throws 400 */
export function setNamePart(changes: UserChanges, sub: string, value: unknown): void {
  if (sub === 'givenname') changes.givenName = parseNullableText('name.givenName', value, LENGTHS.name);
  if (sub === 'familyname') changes.familyName = parseNullableText('name.familyName', value, LENGTHS.name);
}

/**
 * The address to keep: the primary one, else that of the type work, else the first; `current` in place of an address of another type, where
 * there is one and others are added to it. @throws 400
 */
export function parseEmails(value: unknown, current: string | null = null): string | null {
  const all = value === null ? [] : [value].flat();
  if (all.length > 100) throw invalidValue('"emails" has more than 100 values.');
  const emails = all.map((one) => (isObject(one) ? lowerCaseMembers(one) : new Map([['value', one]])));
  const main =
    emails.find((one) => parseBoolean('emails.primary', one.get('primary') ?? false)) ??
    emails.find(
      (one) => (parseNullableText('emails.type', one.get('type'), MAX_NAME) ?? 'work').toLowerCase() === 'work',
    );
  if (!main && current !== null) return current;
  const chosen = main ?? emails[0];
  return chosen ? parseEmail(chosen.get('value')) : null;
}

/** @throws 400 */
export const parseEmail = (value: unknown): string | null => parseNullableText('emails.value', value, LENGTHS.email);

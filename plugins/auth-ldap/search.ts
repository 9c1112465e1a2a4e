import { AndFilter, type Client, type Entry, EqualityFilter, type Filter, FilterParser } from 'ldapts';
import { ACCOUNT_STATE_ATTRIBUTES, describeAccountState } from './account-state.ts';
import type { LdapDirectory } from './settings.ts';

/** An entry of the directory that is a user. */
export interface LdapUser {
  /** The name (DN) of the entry. */
  readonly dn: string;
  readonly externalIdentifier: string;
  readonly email: string | undefined;
  readonly firstName: string | undefined;
  readonly lastName: string | undefined;
  /** Why the account may not be used: disabled, locked or expired in the directory; undefined for one that may. */
  readonly refusal: string | undefined;
}

/** Seconds that the directory may spend on a search. */
export const TIME_LIMIT = 10;
const MAX_GROUPS = 1000;

/**
 * The users with the typed text, two at most. The text is a value in the request and never part of a filter that is parsed, so its
 * characters mean nothing.
 */
export async function findLdapUsers(
  client: Client,
  { users }: Pick<LdapDirectory, 'users'>,
  typed: { readonly attribute: string; readonly text: string },
): Promise<readonly LdapUser[]> {
  const byText = new EqualityFilter({ attribute: typed.attribute, value: typed.text });
  const filter: Filter = users.filter
    ? new AndFilter({ filters: [byText, FilterParser.parseString(users.filter)] })
    : byText;
  const { email, firstName, lastName, externalIdentifier } = users;
  const buffers = externalIdentifier === undefined ? [] : [externalIdentifier];
  const { searchEntries } = await client.search(users.base, {
    scope: users.scope,
    filter,
    sizeLimit: 2,
    timeLimit: TIME_LIMIT,
    attributes: [...new Set([email, firstName, lastName, ...ACCOUNT_STATE_ATTRIBUTES, ...buffers])],
    explicitBufferAttributes: buffers,
  });
  return searchEntries.map((entry) => ({
    dn: entry.dn,
    externalIdentifier:
      externalIdentifier === undefined ? entry.dn : toIdentifier(firstValue(entry, externalIdentifier)),
    email: firstText(entry, email),
    firstName: firstText(entry, firstName),
    lastName: firstText(entry, lastName),
    refusal: describeAccountState((attribute) => firstText(entry, attribute)),
  }));
}

/** The groups of a user, each by its common name and by the name (DN) of its entry, for AUTH_<NAME>_ROLE_MAPPING. */
export async function findLdapGroups(
  client: Client,
  groups: LdapDirectory['groups'],
  userDn: string,
): Promise<readonly string[]> {
  if (!groups) return [];
  const { searchEntries } = await client.search(groups.base, {
    scope: groups.scope,
    filter: new EqualityFilter({ attribute: groups.member, value: userDn }),
    sizeLimit: MAX_GROUPS,
    timeLimit: TIME_LIMIT,
    attributes: ['cn'],
  });
  return searchEntries.flatMap((entry) => [firstText(entry, 'cn') ?? [], entry.dn].flat());
}

/** The first value of an attribute, whose name the directory may write in other letters. One without a value is an empty list. */
function firstValue(entry: Entry, attribute: string): Buffer | string | undefined {
  const name = attribute.toLowerCase();
  const values = Object.entries(entry).flatMap(([key, value]) => (key.toLowerCase() === name ? value : []));
  return values[0];
}

/** Whether an entry has a value of an attribute that the service may read. */
export const hasAttribute = (entry: Entry, attribute: string): boolean => firstValue(entry, attribute) !== undefined;

const firstText = (entry: Entry, attribute: string): string | undefined => firstValue(entry, attribute)?.toString();

/** Text stays text; bytes that are none, such as those of an objectGUID, become hexadecimal digits. */
function toIdentifier(value: Buffer | string | undefined): string {
  if (value === undefined) return '';
  const bytes = Buffer.from(value);
  const text = bytes.toString('utf8');
  return /^[\p{L}\p{N}\p{P}\p{S} ]+$/u.test(text) && Buffer.from(text).equals(bytes) ? text : bytes.toString('hex');
}

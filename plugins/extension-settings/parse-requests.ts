import { fail } from '#kernel';
import type { SettingFilter, SettingRowIdentity } from './store.ts';

/** Parsers of request bodies and queries; each throws INVALID_PAYLOAD for another shape. */

type Members = Readonly<Record<string, unknown>>;

const WRITE = ['subject', 'scope', 'scope_key', 'key', 'value'] as const;
const CLEAR = ['subject', 'scope', 'scope_key', 'key'] as const;

const createInvalidPayload = (what: string) => fail('INVALID_PAYLOAD', what);

export const isSettingScope = (value: unknown): value is 'global' | 'collection' =>
  value === 'global' || value === 'collection';

export function parseSettingWriteBody(body: unknown): {
  readonly location: SettingRowIdentity;
  readonly value: unknown;
} {
  const members = requireObject(body);
  const missing = WRITE.find((name) => !Object.hasOwn(members, name));
  if (missing !== undefined) throw createInvalidPayload(`"${missing}" is required.`);
  if (Object.keys(members).length > WRITE.length)
    throw createInvalidPayload(`Only these are allowed: ${WRITE.join(', ')}.`);
  return { location: parseLocation(members), value: members.value };
}

/** Parses a body that deletes one value, or all values of a package. */
export function parseSettingDeletionBody(body: unknown): Pick<SettingRowIdentity, 'extension'> | SettingRowIdentity {
  const members = requireObject(body);
  const names = Object.keys(members);
  const has = (expected: readonly string[]) =>
    names.length === expected.length && expected.every((name) => Object.hasOwn(members, name));
  if (has(['subject'])) return { extension: requireText(members, 'subject') };
  if (!has(CLEAR)) throw createInvalidPayload(`It takes exactly ${CLEAR.join(', ')}, or exactly subject.`);
  const location = parseLocation(members);
  if (!isSettingScope(location.scope)) throw createInvalidPayload('"scope" must be global or collection.');
  return location;
}

/** Parses `subject`, `scope` and `scope_key` of a query string. */
export function parseSettingsListQuery(query: Members): { readonly subject: string; readonly narrow: SettingFilter } {
  const { scope, scope_key: scopeKey } = query;
  if (scope !== undefined && !isSettingScope(scope))
    throw createInvalidPayload('"scope" must be global or collection.');
  return {
    subject: parseSettingsSubject(query),
    narrow: {
      ...(scope === undefined ? {} : { scope }),
      ...(scopeKey === undefined ? {} : { scopeKeys: [requireText(query, 'scope_key')] }),
    },
  };
}

export function parseSettingsSubject(query: Members): string {
  const subject = query.subject === undefined ? '' : requireText(query, 'subject');
  if (subject === '') throw createInvalidPayload('"subject" is required.');
  return subject;
}

export const parseCollectionParameter = (query: Members): string | undefined =>
  query.collection === undefined ? undefined : requireText(query, 'collection');

const parseLocation = (members: Members): SettingRowIdentity => ({
  extension: requireText(members, 'subject'),
  scope: requireText(members, 'scope'),
  scope_key: requireText(members, 'scope_key'),
  key: requireText(members, 'key'),
});

function requireText(members: Members, name: string): string {
  const value = members[name];
  if (typeof value !== 'string') throw createInvalidPayload(`"${name}" must be a text.`);
  return value;
}

function requireObject(body: unknown): Members {
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw createInvalidPayload('The body must be an object.');
  return body as Members;
}

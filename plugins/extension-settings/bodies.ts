import { fail } from '#kernel';
import type { Narrow, Place } from './store.ts';

/** What a client sent, checked for its shape alone. INVALID_PAYLOAD where it has another one. */

type Members = Readonly<Record<string, unknown>>;

const WRITE = ['subject', 'scope', 'scope_key', 'key', 'value'] as const;
const CLEAR = ['subject', 'scope', 'scope_key', 'key'] as const;

const refused = (what: string) => fail('INVALID_PAYLOAD', what);

export const isScope = (value: unknown): value is 'global' | 'collection' =>
  value === 'global' || value === 'collection';

export function writeOf(body: unknown): { readonly place: Place; readonly value: unknown } {
  const members = membersOf(body);
  const missing = WRITE.find((name) => !Object.hasOwn(members, name));
  if (missing !== undefined) throw refused(`"${missing}" is required.`);
  if (Object.keys(members).length > WRITE.length) throw refused(`Only these are allowed: ${WRITE.join(', ')}.`);
  return { place: placeOf(members), value: members.value };
}

/** One value, or all of a package: these two shapes exactly. */
export function deletionOf(body: unknown): Pick<Place, 'extension'> | Place {
  const members = membersOf(body);
  const names = Object.keys(members);
  const has = (wanted: readonly string[]) =>
    names.length === wanted.length && wanted.every((name) => Object.hasOwn(members, name));
  if (has(['subject'])) return { extension: textIn(members, 'subject') };
  if (!has(CLEAR)) throw refused(`It takes exactly ${CLEAR.join(', ')}, or exactly subject.`);
  const place = placeOf(members);
  if (!isScope(place.scope)) throw refused('"scope" must be global or collection.');
  return place;
}

/** `subject`, `scope` and `scope_key` of a query string. */
export function listOf(query: Members): { readonly subject: string; readonly narrow: Narrow } {
  const { scope, scope_key: scopeKey } = query;
  if (scope !== undefined && !isScope(scope)) throw refused('"scope" must be global or collection.');
  return {
    subject: subjectOf(query),
    narrow: {
      ...(scope === undefined ? {} : { scope }),
      ...(scopeKey === undefined ? {} : { scopeKeys: [textIn(query, 'scope_key')] }),
    },
  };
}

export function subjectOf(query: Members): string {
  const subject = query.subject === undefined ? '' : textIn(query, 'subject');
  if (subject === '') throw refused('"subject" is required.');
  return subject;
}

export const collectionOf = (query: Members): string | undefined =>
  query.collection === undefined ? undefined : textIn(query, 'collection');

const placeOf = (members: Members): Place => ({
  extension: textIn(members, 'subject'),
  scope: textIn(members, 'scope'),
  scope_key: textIn(members, 'scope_key'),
  key: textIn(members, 'key'),
});

function textIn(members: Members, name: string): string {
  const value = members[name];
  if (typeof value !== 'string') throw refused(`"${name}" must be a text.`);
  return value;
}

function membersOf(body: unknown): Members {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) throw refused('The body must be an object.');
  return body as Members;
}

import { fail } from '#kernel';

/**
 * Parses the address that a sign-in ends at: a path of this service or an address of the origin of PUBLIC_URL, or one of the list, which
 * compares the whole text, or origin and path. @throws INVALID_QUERY for any other
 */
export function parseRedirectTarget(text: unknown, publicUrl: string, allowed: readonly string[]): URL | undefined {
  if (text === undefined) return undefined;
  if (typeof text !== 'string' || text === '' || text.length > 2000) throw refused();
  // Browsers read a backslash as a slash and leave out control characters, so that other checks would see another address.
  if (/[\\\p{Cc}]/u.test(text) || !URL.canParse(text, publicUrl)) throw refused();
  const target = new URL(text, publicUrl);
  if (target.protocol !== 'https:' && target.protocol !== 'http:') throw refused();
  if (target.username !== '' || target.password !== '') throw refused();
  if (target.origin === new URL(publicUrl).origin) return target;
  const isAllowed = allowed.some(
    (entry) => entry === text || (URL.canParse(entry) && originAndPath(new URL(entry)) === originAndPath(target)),
  );
  if (!isAllowed) throw refused();
  return target;
}

const originAndPath = ({ origin, pathname }: URL): string => `${origin}${pathname}`;

const refused = () =>
  fail(
    'INVALID_QUERY',
    'A sign-in cannot end at this address. AUTH_<NAME>_REDIRECT_ALLOW_LIST names those it may end at.',
    {
      path: ['redirect'],
    },
  );

/** The target with why the sign-in failed, for its page. */
export function withReason(target: URL, code: string): URL {
  const url = new URL(target);
  url.searchParams.set('reason', code);
  return url;
}

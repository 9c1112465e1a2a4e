/** An origin that no service has, to resolve paths against. */
const BASE = 'http://same-origin.invalid';
const MAX_LENGTH = 2000;

/**
 * The path that a sign-in leads to, from the parameter `redirect`; undefined for anything that could lead to another origin. The text is
 * parsed as browsers parse it, and what is left of it begins with one slash: `/\host`, `/.//host` and tabs in it name other hosts.
 */
export function parseRedirectTarget(text: unknown): string | undefined {
  if (typeof text !== 'string' || text.length > MAX_LENGTH || !text.startsWith('/')) return undefined;
  if (!URL.canParse(text, BASE)) return undefined;
  const { origin, pathname, search, hash } = new URL(text, BASE);
  if (origin !== BASE || /^\/[/\\]/.test(pathname)) return undefined;
  return `${pathname}${search}${hash}`;
}

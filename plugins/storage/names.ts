import { fail } from '#kernel';

const LONGEST = 255;

/** May an object be called so? One path segment, which is hidden nowhere and leads nowhere else. */
export const isObjectName = (name: string): boolean =>
  name.length <= LONGEST && /^[A-Za-z0-9_][A-Za-z0-9_.-]*$/.test(name) && !name.includes('..');

/** Names come from rows, which somebody may have changed by hand: no driver sees one that could mean another place. */
export function checkName(name: string): void {
  if (isObjectName(name)) return;
  throw fail('INTERNAL_SERVER_ERROR', `no object in storage can be called ${JSON.stringify(name.slice(0, 300))}`);
}

/** What a name may begin with, nothing at all included. */
export function checkPrefix(prefix: string): void {
  if (prefix !== '') checkName(prefix);
}

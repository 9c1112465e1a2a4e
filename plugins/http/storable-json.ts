import { fail } from '#kernel';

/** Levels of objects and arrays. Valid requests need a dozen; deeper ones only cost time. */
const MAX_DEPTH = 100;

/**
 * @throws INVALID_PAYLOAD for JSON nested deeper than 100 levels or with NUL characters, which PostgreSQL cannot store.
 */
export function assertStorableJson(value: unknown, text: string, what: string): void {
  const isTree = value !== null && typeof value === 'object';
  const hasNul = text.includes('\\u0000') && containsNul([value]);
  if (isTree && isTooDeep(value, 1))
    throw fail('INVALID_PAYLOAD', `${what} is nested deeper than the ${MAX_DEPTH} levels allowed.`);
  if (hasNul) throw fail('INVALID_PAYLOAD', `${what} contains a NUL character.`);
}

/** Recurses no deeper than the limit, so it cannot overflow the stack. */
function isTooDeep(value: object, level: number): boolean {
  if (level > MAX_DEPTH) return true;
  for (const inner of Array.isArray(value) ? value : Object.values(value)) {
    if (inner !== null && typeof inner === 'object' && isTooDeep(inner, level + 1)) return true;
  }
  return false;
}

function containsNul(body: object): boolean {
  const pending: object[] = [body];
  for (let current = pending.pop(); current; current = pending.pop()) {
    for (const [key, value] of Object.entries(current)) {
      if (key.includes('\0') || (typeof value === 'string' && value.includes('\0'))) return true;
      if (value !== null && typeof value === 'object') pending.push(value);
    }
  }
  return false;
}

import { fail } from '#kernel';

/** Containers inside each other. What the service accepts needs a dozen; deeper ones only cost. */
const MAX_DEPTH = 100;

/** Nesting and NUL characters: what parses may still be nothing that can be worked on or stored. */
export function checkJson(value: unknown, text: string, what: string): void {
  const isTree = value !== null && typeof value === 'object';
  const hasNul = text.includes('\\u0000') && containsNul([value]);
  if (isTree && isTooDeep(value, 1))
    throw fail('INVALID_PAYLOAD', `${what} is nested deeper than the ${MAX_DEPTH} levels allowed.`);
  if (hasNul) throw fail('INVALID_PAYLOAD', `${what} contains a NUL character.`);
}

/** Goes no deeper than the limit itself, so it cannot run out of stack. */
function isTooDeep(value: object, level: number): boolean {
  if (level > MAX_DEPTH) return true;
  for (const inner of Array.isArray(value) ? value : Object.values(value)) {
    if (inner !== null && typeof inner === 'object' && isTooDeep(inner, level + 1)) return true;
  }
  return false;
}

function containsNul(body: object): boolean {
  const left: object[] = [body];
  for (let one = left.pop(); one; one = left.pop()) {
    for (const [key, value] of Object.entries(one)) {
      if (key.includes('\0') || (typeof value === 'string' && value.includes('\0'))) return true;
      if (value !== null && typeof value === 'object') left.push(value);
    }
  }
  return false;
}

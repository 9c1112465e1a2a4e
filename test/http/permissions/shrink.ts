/**
 * Shrinks a failing test case: removes parts of a JSON value, largest first, as long as `differs` stays true. It makes at most
 * `tries` attempts. An error of `differs` counts as false, since a smaller request may be malformed.
 */
export async function shrinkFailingCase<T>(
  value: T,
  differs: (smaller: T) => Promise<boolean>,
  tries = 150,
): Promise<T> {
  let current = value;
  let left = tries;
  for (let found = true; found; ) {
    found = false;
    for (const smaller of smallerOf(current)) {
      if (left-- <= 0) return current;
      if (await differs(smaller as T).catch(() => false)) {
        current = smaller as T;
        found = true;
        break;
      }
    }
  }
  return current;
}

/** All values that are one step smaller: without one member, then with one member made smaller. */
function* smallerOf(value: unknown): Generator<unknown> {
  if (typeof value !== 'object' || value === null) return;
  if (Array.isArray(value)) {
    for (const at of value.keys()) yield value.filter((_, other) => other !== at);
    for (const [at, one] of value.entries())
      for (const smaller of smallerOf(one)) yield value.map((old, other) => (other === at ? smaller : old));
    return;
  }
  const entries = Object.entries(value);
  for (const [name] of entries) yield Object.fromEntries(entries.filter(([other]) => other !== name));
  for (const [name, one] of entries) for (const smaller of smallerOf(one)) yield { ...value, [name]: smaller };
}

/** Objects that GraphQL made of literals and variables have no prototype; for others they are ordinary ones. */
export function toOrdinaryObjects(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(toOrdinaryObjects);
  // Values of a JSON scalar came with the request and are ordinary already.
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, toOrdinaryObjects(inner)]));
}

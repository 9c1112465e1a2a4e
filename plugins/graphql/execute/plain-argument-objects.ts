/**
 * The graphql package creates objects without a prototype for arguments. Resolvers of other plugins get ordinary ones.
 */
export function toObjectsWithPrototype(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(toObjectsWithPrototype);
  // Values of the scalar JSON were parsed from the request and are ordinary already.
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, toObjectsWithPrototype(inner)]));
}

/**
 * The graphql package creates objects without a prototype for arguments. Resolvers of other plugins get ordinary ones.
 */
export function toOrdinaryObjects(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(toOrdinaryObjects);
  // Values of the scalar JSON were parsed from the request and are ordinary already.
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, toOrdinaryObjects(inner)]));
}

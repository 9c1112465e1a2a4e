/** Scopes that need a list of collections. */
const COLLECTION_SCOPES = new Set(['items.create', 'items.update', 'items.delete']);
const SYSTEM_PREFIX = 'platform_';

const listOf = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((one): one is string => typeof one === 'string') : [];

/** The names of the events that a flow listens to, from its options `scope` and `collections`. */
export function eventNamesOf(options: Readonly<Record<string, unknown>>): readonly string[] {
  const collections = listOf(options.collections);
  const names = listOf(options.scope).flatMap((scope) => {
    if (!COLLECTION_SCOPES.has(scope)) return [scope];
    const action = scope.slice('items.'.length);
    return collections.map((name) =>
      name.startsWith(SYSTEM_PREFIX) ? `${name.slice(SYSTEM_PREFIX.length)}.${action}` : `${name}.items.${action}`,
    );
  });
  // A name with a wildcard would listen to more than the flow names.
  return [...new Set(names.filter((name) => name !== '' && !name.includes('*')))];
}

/** Names that stand for something else in the file, or in the language. */
const TAKEN = ['Schema', 'Json', 'Csv', 'DateTime', 'DateText', 'TimeText', 'GeoJson', 'Record', 'Array', 'String'];

/** System collections that the client library has types of its own for, by the names that it gives them. */
const CLIENT_COLLECTIONS = [
  ...['activity', 'collections', 'comments', 'dashboards', 'extensions', 'fields', 'files', 'flows', 'folders'],
  ...['notifications', 'operations', 'panels', 'permissions', 'presets', 'relations', 'roles', 'settings', 'shares'],
  ...['users', 'versions'],
];

/** The member of `Schema` for a collection: the client library knows system collections by a prefix of its own. */
export function toSchemaKey(collection: string): string {
  const name = collection.replace(/^platform_/, '');
  return name !== collection && CLIENT_COLLECTIONS.includes(name) ? `directus_${name}` : collection;
}

/** Names of interfaces by collection, each an identifier of its own: `order-lines` is `OrderLines`. */
export function nameInterfaces(collections: readonly string[]): ReadonlyMap<string, string> {
  const taken = new Set(TAKEN);
  const names = new Map<string, string>();
  for (const collection of [...collections].sort()) {
    const words = collection.split(/[^\p{L}\p{N}]+/u).filter((word) => word !== '');
    const joined = words.map((word) => word[0]?.toUpperCase() + word.slice(1)).join('');
    const base = /^\p{ID_Start}\p{ID_Continue}*$/u.test(joined)
      ? joined
      : `Collection${joined.replaceAll(/[^\p{ID_Continue}]/gu, '')}`;
    let name = base;
    for (let at = 2; taken.has(name); at++) name = `${base}${at}`;
    taken.add(name);
    names.set(collection, name);
  }
  return names;
}

/** A name as the key of a member: quoted where it is no identifier. */
export const renderKey = (name: string): string =>
  /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u.test(name) ? name : JSON.stringify(name);

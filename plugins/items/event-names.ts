import { type Collection, SYSTEM_COLLECTION_PREFIX } from '../schema/contract.ts';

const cachedNames = new WeakMap<Collection, Map<string, readonly string[]>>();

/**
 * Event names (conventions, "Item events"): generic, then scoped for user collections, one name for system collections.
 * Every request needs them, so they are cached as long as the schema snapshot lives.
 */
export function itemEventNames(collection: Collection, verb: string): readonly string[] {
  let verbs = cachedNames.get(collection);
  if (!verbs) {
    verbs = new Map();
    cachedNames.set(collection, verbs);
  }
  let names = verbs.get(verb);
  if (!names) {
    names = collection.system
      ? [`${collection.name.slice(SYSTEM_COLLECTION_PREFIX.length)}.${verb}`]
      : [`items.${verb}`, `${collection.name}.items.${verb}`];
    verbs.set(verb, names);
  }
  return names;
}

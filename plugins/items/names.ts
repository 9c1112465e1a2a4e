import { type Collection, SYSTEM_PREFIX } from '../schema/contract.ts';

/** Event names (conventions, "Item events"): generic then scoped for user collections, one name for system ones. */
export const eventNames = (collection: Collection, verb: string): readonly string[] =>
  collection.system
    ? [`${collection.name.slice(SYSTEM_PREFIX.length)}.${verb}`]
    : [`items.${verb}`, `${collection.name}.items.${verb}`];

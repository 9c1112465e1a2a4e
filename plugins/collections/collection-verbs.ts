import type { Caller } from '#kernel';
import type { CollectionRecord, UnservedTable } from '../schema/contract.ts';
import { collectionRecord } from '../schema/library.ts';
import type { Deps } from './deps.ts';
import { visibleCollection, visibleCollections, visibleTo } from './visible.ts';

/** What a caller may see of collections and do to them, whichever way he asks. Changes are answered with what there is then. */
export interface CollectionVerbs {
  list(caller: Caller): Promise<readonly CollectionRecord[]>;
  /** For admins: tables that are not served, with the reasons; empty for all others. */
  unserved(caller: Caller): Promise<readonly UnservedTable[]>;
  one(caller: Caller, name: string): Promise<CollectionRecord>;
  some(caller: Caller, names: readonly string[]): Promise<readonly CollectionRecord[]>;
  /** Those of them that are there: a folder that was forgotten is nothing any more. */
  left(caller: Caller, names: readonly string[]): Promise<readonly CollectionRecord[]>;
  create(caller: Caller, input: unknown): Promise<CollectionRecord>;
  update(caller: Caller, name: string, input: unknown): Promise<CollectionRecord | undefined>;
  remove(caller: Caller, name: string): Promise<void>;
}

export function createCollectionVerbs(deps: Deps): CollectionVerbs {
  const { writes } = deps;
  const visible = (caller: Caller) => visibleTo(caller, 'platform_collections', deps);

  const verbs: CollectionVerbs = {
    list: async (caller) => visibleCollections(await visible(caller)).map(collectionRecord),
    unserved: async (caller) => (caller.admin ? deps.schema.unserved() : []),
    one: async (caller, name) => collectionRecord(visibleCollection(await visible(caller), name)),
    async some(caller, names) {
      const seen = await visible(caller);
      return names.map((name) => collectionRecord(visibleCollection(seen, name)));
    },
    async left(caller, names) {
      const seen = await visible(caller);
      return names
        .filter((name) => seen.overview.collections.has(name))
        .map((name) => collectionRecord(visibleCollection(seen, name)));
    },
    async create(caller, input) {
      return verbs.one(caller, await writes.createCollection(caller, input));
    },
    async update(caller, name, input) {
      await writes.updateCollection(caller, name, input);
      return (await verbs.left(caller, [name]))[0];
    },
    remove: (caller, name) => writes.deleteCollection(caller, name),
  };
  return verbs;
}

import type { Caller } from '#kernel';
import type { CollectionRecord, UnservedTable } from '../schema/contract.ts';
import { toCollectionRecord } from '../schema/library.ts';
import type { CollectionRouteDeps } from './route-helpers.ts';
import { loadVisibleSchema, requireVisibleCollection, visibleCollections } from './visible-schema.ts';

/** Reads and changes of collections for a caller, shared by REST and GraphQL. A change answers the new record. */
export interface CollectionCrud {
  list(caller: Caller): Promise<readonly CollectionRecord[]>;
  /** For admins: tables that are not served, with the reasons. Empty for other callers. */
  unservedTables(caller: Caller): Promise<readonly UnservedTable[]>;
  get(caller: Caller, name: string): Promise<CollectionRecord>;
  getMany(caller: Caller, names: readonly string[]): Promise<readonly CollectionRecord[]>;
  /** The collections that still exist: a folder without its registry row does not. */
  getRemaining(caller: Caller, names: readonly string[]): Promise<readonly CollectionRecord[]>;
  create(caller: Caller, input: unknown): Promise<CollectionRecord>;
  update(caller: Caller, name: string, input: unknown): Promise<CollectionRecord | undefined>;
  remove(caller: Caller, name: string): Promise<void>;
}

export function createCollectionCrud(deps: CollectionRouteDeps): CollectionCrud {
  const { writes } = deps;
  const visible = (caller: Caller) => loadVisibleSchema(caller, 'platform_collections', deps);

  const verbs: CollectionCrud = {
    list: async (caller) => visibleCollections(await visible(caller)).map(toCollectionRecord),
    unservedTables: async (caller) => (caller.admin ? deps.schema.unservedTables() : []),
    get: async (caller, name) => toCollectionRecord(requireVisibleCollection(await visible(caller), name)),
    async getMany(caller, names) {
      const schema = await visible(caller);
      return names.map((name) => toCollectionRecord(requireVisibleCollection(schema, name)));
    },
    async getRemaining(caller, names) {
      const schema = await visible(caller);
      return names
        .filter((name) => schema.snapshot.collections.has(name))
        .map((name) => toCollectionRecord(requireVisibleCollection(schema, name)));
    },
    async create(caller, input) {
      return verbs.get(caller, await writes.createCollection(caller, input));
    },
    async update(caller, name, input) {
      await writes.updateCollection(caller, name, input);
      return (await verbs.getRemaining(caller, [name]))[0];
    },
    remove: (caller, name) => writes.deleteCollection(caller, name),
  };
  return verbs;
}

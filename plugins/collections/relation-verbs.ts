import type { Caller } from '#kernel';
import type { RelationRecord } from '../schema/contract.ts';
import { toRelationRecord } from '../schema/library.ts';
import type { CollectionRouteDeps } from './route-helpers.ts';
import {
  loadVisibleSchema,
  requireVisibleCollection,
  requireVisibleRelation,
  visibleRelations,
} from './visible-schema.ts';

/** Reads and changes of relations for a caller, shared by REST and GraphQL. */
export interface RelationCrud {
  list(caller: Caller): Promise<readonly RelationRecord[]>;
  listOf(caller: Caller, collection: string): Promise<readonly RelationRecord[]>;
  get(caller: Caller, collection: string, field: string): Promise<RelationRecord>;
  create(caller: Caller, input: unknown): Promise<RelationRecord>;
  update(caller: Caller, collection: string, field: string, input: unknown): Promise<RelationRecord>;
  remove(caller: Caller, collection: string, field: string): Promise<void>;
}

export function createRelationCrud(deps: CollectionRouteDeps): RelationCrud {
  const { writes } = deps;
  const visible = (caller: Caller) => loadVisibleSchema(caller, 'platform_relations', deps);

  const verbs: RelationCrud = {
    list: async (caller) => visibleRelations(await visible(caller)).map(toRelationRecord),
    async listOf(caller, collection) {
      const schema = await visible(caller);
      const { name } = requireVisibleCollection(schema, collection);
      return visibleRelations(schema)
        .filter((relation) => relation.collection === name)
        .map(toRelationRecord);
    },
    get: async (caller, collection, field) =>
      toRelationRecord(requireVisibleRelation(await visible(caller), collection, field)),
    async create(caller, input) {
      const { collection, field } = await writes.createRelation(caller, input);
      return verbs.get(caller, collection, field);
    },
    async update(caller, collection, field, input) {
      await writes.updateRelation(caller, collection, field, input);
      return verbs.get(caller, collection, field);
    },
    remove: (caller, collection, field) => writes.deleteRelation(caller, collection, field),
  };
  return verbs;
}

import type { Caller } from '#kernel';
import type { RelationRecord } from '../schema/contract.ts';
import { toRelationRecord } from '../schema/library.ts';
import type { Deps } from './route-helpers.ts';
import { loadVisibleSchema, visibleCollection, visibleRelation, visibleRelations } from './visible-schema.ts';

/** Reads and changes of relations for a caller, shared by REST and GraphQL. */
export interface RelationVerbs {
  list(caller: Caller): Promise<readonly RelationRecord[]>;
  listOf(caller: Caller, collection: string): Promise<readonly RelationRecord[]>;
  get(caller: Caller, collection: string, field: string): Promise<RelationRecord>;
  create(caller: Caller, input: unknown): Promise<RelationRecord>;
  update(caller: Caller, collection: string, field: string, input: unknown): Promise<RelationRecord>;
  remove(caller: Caller, collection: string, field: string): Promise<void>;
}

export function createRelationVerbs(deps: Deps): RelationVerbs {
  const { writes } = deps;
  const visible = (caller: Caller) => loadVisibleSchema(caller, 'platform_relations', deps);

  const verbs: RelationVerbs = {
    list: async (caller) => visibleRelations(await visible(caller)).map(toRelationRecord),
    async listOf(caller, collection) {
      const schema = await visible(caller);
      const { name } = visibleCollection(schema, collection);
      return visibleRelations(schema)
        .filter((relation) => relation.collection === name)
        .map(toRelationRecord);
    },
    get: async (caller, collection, field) =>
      toRelationRecord(visibleRelation(await visible(caller), collection, field)),
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

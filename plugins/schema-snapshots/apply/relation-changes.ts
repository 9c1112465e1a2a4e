import type { Difference, JsonObject, RelationEntry } from '../contract.ts';

/** Members of a foreign key that can change without another foreign key. */
const RULES: readonly unknown[] = ['on_update', 'on_delete'];

/** Whether the differences need another foreign key. */
export const recreatesRelation = (differences: readonly Difference[]): boolean =>
  differences.some(
    ({ path = [] }) =>
      path[0] === 'related_collection' || (path[0] === 'schema' && !(path.length === 2 && RULES.includes(path[1]))),
  );

/** The input that creates a relation of a snapshot. */
export const createRelationOf = (relation: RelationEntry, isIndexed: boolean): JsonObject => ({
  ...relation,
  schema: relation.schema && { ...relation.schema, is_indexed: isIndexed },
});

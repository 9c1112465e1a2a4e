import type { Collection, Relation, RelationEnd } from '../../schema/contract.ts';
import type { ReadNode } from '../contract.ts';
import type { QueryParseContext } from './parse-context.ts';

/** The position of a node in the tree. */
export interface QueryNodePosition {
  /** The number of names on the path to the node. */
  readonly depth: number;
  readonly unlimited: boolean;
  /** The sort field of the relation; null without one. */
  readonly sortField: string | null;
  /** The relation between the parent node and this one. */
  readonly parentRelation?: Relation;
}

/** The position of the node behind a relation. */
export const positionBehindRelation = (
  { depth }: QueryNodePosition,
  { kind, relation }: RelationEnd,
): QueryNodePosition => ({
  depth: depth + 1,
  unlimited: false,
  sortField: kind === 'many' ? (relation.meta?.sort_field ?? null) : null,
  parentRelation: relation,
});

/** A many-to-one has at most one row, so limit, offset and order have no effect. */
export const withoutPagingAndOrder = (read: ReadNode): ReadNode => ({ ...read, limit: null, offset: 0, order: [] });

/** The related collections of a many-to-any that have a table and a key. */
export const findManyToAnyCollections = (
  { schema }: QueryParseContext,
  { allowedCollections: allowed }: Extract<RelationEnd, { kind: 'any' }>,
): readonly Collection[] =>
  allowed.flatMap((name) => {
    const to = schema.collections.get(name);
    return to?.table && to.hasKey ? [to] : [];
  });

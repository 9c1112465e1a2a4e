import type { Collection, Relation, RelationEnd } from '../../schema/contract.ts';
import type { Read } from '../contract.ts';
import type { ParseContext } from './parse-context.ts';

/** Where in the tree a node stands. */
export interface NodePosition {
  /** Names that lead here. */
  readonly depth: number;
  readonly unlimited: boolean;
  /** The relation's own sort field, where it has one. */
  readonly sortField: string | null;
  /** The relation that led here. */
  readonly parentRelation?: Relation;
}

/** Where the node behind a relation stands. */
export const relatedPosition = ({ depth }: NodePosition, { kind, relation }: RelationEnd): NodePosition => ({
  depth: depth + 1,
  unlimited: false,
  sortField: kind === 'many' ? (relation.meta?.sort_field ?? null) : null,
  parentRelation: relation,
});

/** A many-to-one leads to one row, so nothing that orders or cuts lists has a meaning there. */
export const toSingleRow = (read: Read): Read => ({ ...read, limit: null, offset: 0, order: [] });

/** The collections that a many-to-any may lead to and that can be read. */
export const readableTargets = (
  { schema }: ParseContext,
  { allowed }: Extract<RelationEnd, { kind: 'any' }>,
): readonly Collection[] =>
  allowed.flatMap((name) => {
    const to = schema.collections.get(name);
    return to?.table && to.hasKey ? [to] : [];
  });

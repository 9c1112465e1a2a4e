import { fail } from '#kernel';
import type { Collection, Field } from '../../schema/contract.ts';
import type { FieldReference } from '../contract.ts';
import { type QueryParseContext, resolveCollection, resolveField } from './parse-context.ts';
import { createInvalidQueryFailure, type QueryErrorPath } from './raw-values.ts';

const FOLLOW = /^\$FOLLOW\(([^,()]+),([^,()]+)(?:,([^,()]+))?\)$/;

export const isFollowFilterKey = (key: string): boolean => key.startsWith('$FOLLOW');

/**
 * Parses `$FOLLOW(comments, article)`: the rows of a collection whose relation refers to this one, for relations without an alias. The
 * third name is the field of a many-to-any that names the collection.
 */
export function parseFollowFilterKey(
  context: QueryParseContext,
  collection: Collection,
  key: string,
  path: QueryErrorPath,
): FieldReference {
  const [, from, name, by] = (FOLLOW.exec(key) ?? []).map((part) => part?.trim());
  if (!from || !name) throw createInvalidQueryFailure('must be $FOLLOW(collection, field)', path);
  const there = context.schema.collections.get(from);
  // An unknown collection and a hidden one have the same error.
  if (!there?.table || !context.isVisible(there, name)) throw fail('FORBIDDEN', `${from}.${name} may not be followed`);
  const far = resolveField(context, there, name);
  const { relation } = far;
  const leads =
    relation?.kind === 'one'
      ? relation.to === collection.name && by === undefined
      : relation?.kind === 'any' &&
        relation.allowedCollections.includes(collection.name) &&
        by === relation.collectionField;
  if (!relation || !leads) throw createInvalidQueryFailure(`${from}.${name} does not lead here`, path);
  const field: Field = {
    collection: collection.name,
    name: key,
    type: 'alias',
    column: null,
    special: [],
    meta: null,
    concealed: false,
    sensitive: false,
    relation: { kind: 'many', relation: relation.relation, to: resolveCollection(context, from).name },
  };
  return { field, follow: far };
}

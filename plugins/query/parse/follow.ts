import { fail } from '#kernel';
import type { Collection, Field } from '../../schema/contract.ts';
import type { FieldUse } from '../contract.ts';
import { type ParseContext, resolveCollection, resolveField } from './parse-context.ts';
import { invalidQuery, type QueryPath } from './raw-values.ts';

const FOLLOW = /^\$FOLLOW\(([^,()]+),([^,()]+)(?:,([^,()]+))?\)$/;

export const isFollow = (key: string): boolean => key.startsWith('$FOLLOW');

/**
 * `$FOLLOW(comments, article)`: the rows of a collection whose relation leads here, where no alias on this side lists
 * them. The third name is the field that names the collection of a many-to-any.
 */
export function parseFollow(context: ParseContext, collection: Collection, key: string, path: QueryPath): FieldUse {
  const [, from, name, by] = (FOLLOW.exec(key) ?? []).map((part) => part?.trim());
  if (!from || !name) throw invalidQuery('must be $FOLLOW(collection, field)', path);
  const there = context.schema.collections.get(from);
  // A collection that is unknown and one that may not be known look the same.
  if (!there?.table || !context.isVisible(there, name)) throw fail('FORBIDDEN', `${from}.${name} may not be followed`);
  const far = resolveField(context, there, name);
  const { relation } = far;
  const leads =
    relation?.kind === 'one'
      ? relation.to === collection.name && by === undefined
      : relation?.kind === 'any' && relation.allowed.includes(collection.name) && by === relation.by;
  if (!relation || !leads) throw invalidQuery(`${from}.${name} does not lead here`, path);
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

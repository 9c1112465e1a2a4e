import { fail } from '#kernel';
import type { Collection, Field } from '../../schema/contract.ts';
import type { FieldUse } from '../contract.ts';
import { collectionNamed, knownField, type Scope } from './scope.ts';
import { invalid, type Path } from './shape.ts';

const FOLLOW = /^\$FOLLOW\(([^,()]+),([^,()]+)(?:,([^,()]+))?\)$/;

export const isFollow = (key: string): boolean => key.startsWith('$FOLLOW');

/**
 * `$FOLLOW(comments, article)`: the rows of a collection whose relation leads here, where no alias on this side lists
 * them. The third name is the field that names the collection of a many-to-any.
 */
export function followed(scope: Scope, collection: Collection, key: string, path: Path): FieldUse {
  const [, from, name, by] = (FOLLOW.exec(key) ?? []).map((part) => part?.trim());
  if (!from || !name) throw invalid('must be $FOLLOW(collection, field)', path);
  const there = scope.overview.collections.get(from);
  // A collection that is unknown and one that may not be known look the same.
  if (!there?.table || !scope.visible(there, name)) throw fail('FORBIDDEN', `${from}.${name} may not be followed`);
  const far = knownField(scope, there, name);
  const { relation } = far;
  const leads =
    relation?.kind === 'one'
      ? relation.to === collection.name && by === undefined
      : relation?.kind === 'any' && relation.allowed.includes(collection.name) && by === relation.by;
  if (!relation || !leads) throw invalid(`${from}.${name} does not lead here`, path);
  const field: Field = {
    collection: collection.name,
    name: key,
    type: 'alias',
    column: null,
    special: [],
    meta: null,
    concealed: false,
    sensitive: false,
    relation: { kind: 'many', relation: relation.relation, to: collectionNamed(scope, from).name },
  };
  return { field, follow: far };
}

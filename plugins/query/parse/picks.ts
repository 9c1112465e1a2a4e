import type { Collection, RelationEnd } from '../../schema/contract.ts';
import type { Pick, Read } from '../contract.ts';
import { type Wanted, wantedFields } from './fields.ts';
import { fnOf } from './functions.ts';
import { belowOf, type Node, parseNode } from './node.ts';
import { collectionsOf, ofOneRow, type Place, placeBehind } from './related.ts';
import { collectionNamed, type Scope, spend } from './scope.ts';
import { invalid, type Path, relationAt } from './shape.ts';

/** The columns and relations one node shows. */
export function parsePicks(
  scope: Scope,
  collection: Collection,
  entries: readonly string[],
  node: Node,
  aliases: ReadonlyMap<string, string>,
  path: Path,
  place: Place,
): readonly Pick[] {
  const { depth, through } = place;

  const nested = (key: string, to: Collection, fields: readonly string[], relation: RelationEnd) =>
    parseNode(scope, to, fields, belowOf(node, key, path), relationAt(path, key), placeBehind(place, relation));

  function toOne(key: string, to: Collection, fields: readonly string[], relation: RelationEnd): Read {
    const read = nested(key, to, fields, relation);
    if (read.aggregate) throw invalid('aggregates are for lists', relationAt(path, key));
    return ofOneRow(read);
  }

  function pickOf({ key, field, fn, nested: below, scoped }: Wanted): readonly Pick[] {
    spend(scope, [...path, 'fields', key], depth);
    const { relation } = field;
    if (fn) return [{ kind: 'column', key, field, fn: fnOf(scope, field, fn, [...path, 'fields', key]) }];
    if (relation?.kind === 'many') {
      const to = collectionNamed(scope, relation.to);
      if (!below && !to.primary) return [];
      const read = nested(key, to, below ?? [to.primary as string], relation);
      // Groups of a relation are groups, whatever was asked of its rows.
      return [{ kind: below || read.aggregate ? 'many' : 'keys', key, field, read }];
    }
    if (below && relation?.kind === 'one')
      return [{ kind: 'one', key, field, read: toOne(key, collectionNamed(scope, relation.to), below, relation) }];
    const by = relation?.kind === 'any' ? collection.fields.get(relation.by) : undefined;
    if (relation?.kind === 'any' && by?.column && (below || scoped.size > 0)) {
      const reads = collectionsOf(scope, relation).flatMap((to): readonly Read[] => {
        const fields = [...(below ?? []), ...(scoped.get(to.name) ?? [])];
        if (fields.length === 0) return [];
        const own = node.below && Object.hasOwn(node.below, `${key}:${to.name}`) ? `${key}:${to.name}` : key;
        return [toOne(own, to, fields, relation)];
      });
      return [{ kind: 'any', key, field, by, reads }];
    }
    return field.column ? [{ kind: 'column', key, field }] : [];
  }

  const notBack = scope.backlink ? undefined : through;
  return wantedFields(scope, collection, entries, { aliases, path: [...path, 'fields'], notBack }).flatMap(pickOf);
}

import type { Collection, Relation } from '../../schema/contract.ts';
import type { Pick, Read } from '../contract.ts';
import { type Wanted, wantedFields } from './fields.ts';
import { fnOf } from './functions.ts';
import { belowOf, type Node, parseNode } from './node.ts';
import { collectionNamed, type Scope, spend } from './scope.ts';
import { invalid, type Path, relationAt } from './shape.ts';

/** Where in the tree a node stands. */
export interface Place {
  readonly depth: number;
  readonly unlimited: boolean;
  /** The relation's own sort field, where it has one. */
  readonly manual: string | null;
  /** The relation that led here. */
  readonly through?: Relation;
}

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

  function nested(key: string, to: Collection, fields: readonly string[], relation: Relation, manual: string | null) {
    const at = relationAt(path, key);
    return parseNode(scope, to, fields, belowOf(node, key, path), at, {
      depth: depth + 1,
      unlimited: false,
      manual,
      through: relation,
    });
  }

  /** A many-to-one leads to one row, so nothing that orders or cuts lists has a meaning there. */
  function toOne(key: string, to: Collection, fields: readonly string[], relation: Relation): Read {
    const read = nested(key, to, fields, relation, null);
    if (read.aggregate) throw invalid('aggregates are for lists', relationAt(path, key));
    return { ...read, limit: null, offset: 0, order: [] };
  }

  function pickOf({ key, field, fn, nested: below, scoped }: Wanted): readonly Pick[] {
    spend(scope, [...path, 'fields', key], depth);
    const { relation } = field;
    if (fn) return [{ kind: 'column', key, field, fn: fnOf(scope, field, fn, [...path, 'fields', key]) }];
    if (relation?.kind === 'many') {
      const to = collectionNamed(scope, relation.to);
      const manual = relation.relation.meta?.sort_field ?? null;
      if (!below && !to.primary) return [];
      const read = nested(key, to, below ?? [to.primary as string], relation.relation, manual);
      // Groups of a relation are groups, whatever was asked of its rows.
      return [{ kind: below || read.aggregate ? 'many' : 'keys', key, field, read }];
    }
    if (below && relation?.kind === 'one')
      return [
        { kind: 'one', key, field, read: toOne(key, collectionNamed(scope, relation.to), below, relation.relation) },
      ];
    const by = relation?.kind === 'any' ? collection.fields.get(relation.by) : undefined;
    if (relation?.kind === 'any' && by?.column && (below || scoped.size > 0)) {
      const reads = relation.allowed.flatMap((name): readonly Read[] => {
        const fields = [...(below ?? []), ...(scoped.get(name) ?? [])];
        const to = scope.overview.collections.get(name);
        if (fields.length === 0 || !to?.table || !to.primary) return [];
        const own = node.below && Object.hasOwn(node.below, `${key}:${name}`) ? `${key}:${name}` : key;
        return [toOne(own, to, fields, relation.relation)];
      });
      return [{ kind: 'any', key, field, by, reads }];
    }
    return field.column ? [{ kind: 'column', key, field }] : [];
  }

  const notBack = scope.backlink ? undefined : through;
  return wantedFields(scope, collection, entries, { aliases, path: [...path, 'fields'], notBack }).flatMap(pickOf);
}

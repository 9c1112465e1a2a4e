import type { Collection, RelationEnd } from '../../schema/contract.ts';
import type { RawQuery, Read } from '../contract.ts';
import { keyPicks } from '../key-columns.ts';
import { parseAggregate } from './aggregate.ts';
import { type Wanted, wantedFields } from './fields.ts';
import { fnOf } from './functions.ts';
import { parseAliases } from './parameters.ts';
import { collectionsOf, ofOneRow, type Place, placeBehind } from './related.ts';
import { collectionNamed, type Scope, spend } from './scope.ts';
import { hintOf, invalid, isObject, type Path, parameterAt, relationAt } from './shape.ts';
import { parseSort, withDefaults } from './sort.ts';
import { parseTerms } from './terms.ts';

type Parameters = Pick<
  RawQuery,
  'filter' | 'sort' | 'limit' | 'offset' | 'page' | 'search' | 'alias' | 'aggregate' | 'groupBy'
>;

/** One node's parameters without their underscores; `below` holds the nodes of its relations. */
export type Node = Parameters & { readonly below?: Readonly<Record<string, unknown>> };

const NOTHING: Node = {};
// biome-ignore format: a list of names
const DEEP = new Set(['_filter', '_sort', '_limit', '_offset', '_page', '_search', '_alias', '_aggregate', '_groupBy']);

export function parseNode(
  scope: Scope,
  collection: Collection,
  entries: readonly string[],
  node: Node,
  path: Path,
  place: Place,
): Read {
  spend(scope, path);
  for (const [name, below] of Object.entries(node.below ?? {})) {
    if (!isObject(below)) throw invalid('must be an object', relationAt(path, name));
  }
  const aliases = parseAliases(node.alias, parameterAt(path, 'alias'));
  const aggregate = parseAggregate(scope, collection, node, aliases, path);
  const sort = () => parseSort(scope, collection, node.sort, aliases, parameterAt(path, 'sort'));
  return {
    ...parseTerms(scope, collection, node, path, place),
    ...(aggregate
      ? { aggregate, order: [], pick: [] }
      : {
          order: withDefaults(collection, sort(), place.manual),
          pick: parsePicks(scope, collection, entries, node, aliases, path, place),
        }),
  };
}

/** The columns and relations one node shows. */
function parsePicks(
  scope: Scope,
  collection: Collection,
  entries: readonly string[],
  node: Node,
  aliases: ReadonlyMap<string, string>,
  path: Path,
  place: Place,
): Read['pick'] {
  const { through } = place;

  const nested = (key: string, to: Collection, fields: readonly string[], relation: RelationEnd) =>
    parseNode(scope, to, fields, belowOf(node, key, path), relationAt(path, key), placeBehind(place, relation));

  function toOne(key: string, to: Collection, fields: readonly string[], relation: RelationEnd): Read {
    const read = nested(key, to, fields, relation);
    if (read.aggregate) throw invalid('aggregates are for lists', relationAt(path, key));
    return ofOneRow(read);
  }

  function pickOf({ key, field, fn, nested: below, scoped }: Wanted): Read['pick'] {
    spend(scope, [...path, 'fields', key]);
    const { relation } = field;
    if (fn) return [{ kind: 'column', key, field, fn: fnOf(scope, field, fn, [...path, 'fields', key]) }];
    if (relation?.kind === 'many') {
      const to = collectionNamed(scope, relation.to);
      if (!below && !to.hasKey) return [];
      const read = nested(key, to, below ?? [], relation);
      // Groups of a relation are groups, whatever was asked of its rows.
      if (below || read.aggregate) return [{ kind: 'many', key, field, read }];
      return [{ kind: 'keys', key, field, read: { ...read, pick: keyPicks(to) } }];
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
    return field.column || field.parts ? [{ kind: 'column', key, field }] : [];
  }

  const notBack = scope.backlink ? undefined : through;
  return wantedFields(scope, collection, entries, { aliases, path: [...path, 'fields'], notBack }).flatMap(pickOf);
}

/** `deep[author][_filter]`: parameters carry an underscore, everything else names a relation further down. */
function belowOf(node: Node, key: string, path: Path): Node {
  const raw = node.below && Object.hasOwn(node.below, key) ? node.below[key] : undefined;
  if (!isObject(raw)) return NOTHING;
  const own = Object.entries(raw).filter(([name]) => name.startsWith('_'));
  for (const [name] of own) {
    if (!DEEP.has(name))
      throw invalid(`"${name.slice(0, 40)}" is not supported here${hintOf(name, DEEP)}`, [
        ...relationAt(path, key),
        name,
      ]);
  }
  return {
    ...Object.fromEntries(own.map(([name, value]) => [name.slice(1), value])),
    below: Object.fromEntries(Object.entries(raw).filter(([name]) => !name.startsWith('_'))),
  };
}

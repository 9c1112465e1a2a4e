import type { Collection } from '../../schema/contract.ts';
import type { RawQuery, Read, Terms } from '../contract.ts';
import { parseAggregate } from './aggregate.ts';
import { parseFilter } from './filter.ts';
import { parsePaging } from './paging.ts';
import { parseAliases, parseSearch, searchable } from './parameters.ts';
import { parsePicks } from './picks.ts';
import type { Place } from './related.ts';
import { type Scope, spend } from './scope.ts';
import { invalid, isObject, type Path, parameterAt, relationAt } from './shape.ts';
import { parseSort, withDefaults } from './sort.ts';

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
  spend(scope, path, place.depth);
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

/** Which rows a node is about: the same, however it was said what is shown of them. */
export function parseTerms(
  scope: Scope,
  collection: Collection,
  terms: Terms,
  path: Path,
  { unlimited }: Pick<Place, 'unlimited'>,
): Omit<Read, 'order' | 'pick'> {
  const search = parseSearch(terms.search, parameterAt(path, 'search'));
  return {
    collection,
    where: parseFilter(scope, collection, terms.filter, parameterAt(path, 'filter')),
    search,
    searched: search === null ? [] : searchable(collection),
    ...parsePaging(terms, scope.ceilings, path, unlimited),
    meta: [],
    single: false,
  };
}

/** `deep[author][_filter]`: parameters carry an underscore, everything else names a relation further down. */
export function belowOf(node: Node, key: string, path: Path): Node {
  const raw = node.below && Object.hasOwn(node.below, key) ? node.below[key] : undefined;
  if (!isObject(raw)) return NOTHING;
  const own = Object.entries(raw).filter(([name]) => name.startsWith('_'));
  for (const [name] of own) {
    if (!DEEP.has(name))
      throw invalid(`"${name.slice(0, 40)}" is not supported here`, [...relationAt(path, key), name]);
  }
  return {
    ...Object.fromEntries(own.map(([name, value]) => [name.slice(1), value])),
    below: Object.fromEntries(Object.entries(raw).filter(([name]) => !name.startsWith('_'))),
  };
}

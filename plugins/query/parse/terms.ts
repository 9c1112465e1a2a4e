import type { Collection } from '../../schema/contract.ts';
import type { Read, Terms } from '../contract.ts';
import { parseFilter } from './filter.ts';
import { parsePaging } from './paging.ts';
import { parseSearch, searchable } from './parameters.ts';
import type { Place } from './related.ts';
import type { Scope } from './scope.ts';
import { type Path, parameterAt } from './shape.ts';

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

import type { Collection } from '../../schema/contract.ts';
import type { Read, Terms } from '../contract.ts';
import { parseFilter } from './filter.ts';
import { parsePaging } from './paging.ts';
import { parseSearch, searchableFields } from './parameters.ts';
import type { NodePosition } from './node-position.ts';
import type { ParseContext } from './parse-context.ts';
import { type QueryPath, parameterPath } from './raw-values.ts';

/** Which rows a node is about: the same, however it was said what is shown of them. */
export function parseListParameters(
  scope: ParseContext,
  collection: Collection,
  terms: Terms,
  path: QueryPath,
  { unlimited }: Pick<NodePosition, 'unlimited'>,
): Omit<Read, 'order' | 'pick'> {
  const search = parseSearch(terms.search, parameterPath(path, 'search'));
  return {
    collection,
    where: parseFilter(scope, collection, terms.filter, parameterPath(path, 'filter')),
    search,
    searchFields: search === null ? [] : searchableFields(collection),
    ...parsePaging(terms, scope.ceilings, path, unlimited),
    meta: [],
    single: false,
  };
}

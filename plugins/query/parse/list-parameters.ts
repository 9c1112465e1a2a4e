import type { Collection } from '../../schema/contract.ts';
import type { ListParameters } from '../contract.ts';
import { parseFilter } from './filter.ts';
import type { NodePosition } from './node-position.ts';
import { parsePaging } from './paging.ts';
import type { ParseContext } from './parse-context.ts';
import { parameterPath, type QueryPath } from './raw-values.ts';
import { parseSearch, searchableFields } from './search-meta-alias.ts';

/** Parses the parameters that choose the rows of a node, for queries and selections alike. */
export function parseListParameters(
  context: ParseContext,
  collection: Collection,
  terms: ListParameters,
  path: QueryPath,
  { unlimited }: Pick<NodePosition, 'unlimited'>,
) {
  const search = parseSearch(terms.search, parameterPath(path, 'search'));
  return {
    collection,
    where: parseFilter(context, collection, terms.filter, parameterPath(path, 'filter')),
    search,
    searchFields: search === null ? [] : searchableFields(collection),
    ...parsePaging(terms, context.ceilings, path, unlimited),
    meta: [] as const,
    single: false,
  };
}

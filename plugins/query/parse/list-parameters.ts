import type { Collection } from '../../schema/contract.ts';
import type { SelectionListParameters } from '../contract.ts';
import { parseFilter } from './filter.ts';
import type { QueryNodePosition } from './node-position.ts';
import { parsePaging } from './paging.ts';
import type { QueryParseContext } from './parse-context.ts';
import { errorPathOfParameter, type QueryErrorPath } from './raw-values.ts';
import { parseSearch, searchableFields } from './search-meta-alias.ts';

/** Parses the parameters that choose the rows of a node, for queries and selections alike. */
export function parseNodeListParameters(
  context: QueryParseContext,
  collection: Collection,
  terms: SelectionListParameters,
  path: QueryErrorPath,
  { unlimited }: Pick<QueryNodePosition, 'unlimited'>,
) {
  const search = parseSearch(terms.search, errorPathOfParameter(path, 'search'));
  return {
    collection,
    where: parseFilter(context, collection, terms.filter, errorPathOfParameter(path, 'filter')),
    search,
    searchFields: search === null ? [] : searchableFields(collection),
    ...parsePaging(terms, context.ceilings, path, unlimited),
    meta: [] as const,
    single: false,
  };
}

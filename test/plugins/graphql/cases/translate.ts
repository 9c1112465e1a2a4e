import type { Collection, SchemaOverview } from '../../../../plugins/schema/contract.ts';
import type { QueryCase } from '../../query/query-cases.ts';
import { toAggregatedSelection } from './aggregate-translation.ts';
import {
  type DocumentRequest,
  type DocumentRootField,
  type GraphqlSelectionEntry,
  GraphqlVariableValue,
  InexpressibleInGraphqlError,
  renderGraphqlDocument,
} from './document-entries.ts';
import { isPlainRestObject, toGraphqlArguments } from './list-arguments.ts';
import { INEXPRESSIBLE_QUERY_STRING } from './query-paths.ts';
import type { ReadableSchema } from './readable-schema.ts';
import { parseAliases, toFieldList } from './requested-fields.ts';
import { toGraphqlSelectionEntries } from './selection-entries.ts';

/** A REST query as a GraphQL document, and how the answer of REST is converted to that of GraphQL. */
export interface TranslatedQueryCase extends DocumentRequest {
  /** Response key of the root field. */
  readonly key: string;
  readonly of: readonly GraphqlSelectionEntry[];
}

interface Options {
  readonly snapshot: SchemaOverview;
  readonly keysOf: ReadableSchema['keysOf'];
  readonly includesHiddenNames?: boolean;
  /** Whether the filter of the root field is sent as a variable instead of a literal. */
  readonly sendsFilterAsVariable?: boolean;
}

/** Translates a query case of REST into a document. @throws Inexpressible for queries that GraphQL cannot express. */
export function translateQueryCaseToGraphql(
  one: QueryCase,
  { snapshot, keysOf, includesHiddenNames = false, sendsFilterAsVariable = false }: Options,
): TranslatedQueryCase {
  const { query, rules } = one;
  const collection = snapshot.collections.get(one.collection) as Collection;
  if (query.meta !== undefined) throw new InexpressibleInGraphqlError('meta');
  if (query.backlink !== undefined) throw new InexpressibleInGraphqlError('backlink');
  if (one.keys) throw new InexpressibleInGraphqlError('a list of keys');
  if (one.unlimited) throw new InexpressibleInGraphqlError('a read without ceiling');
  const sight: ReadableSchema = {
    snapshot,
    keysOf,
    includesHiddenNames,
    isCollectionReadable: (name) => !rules || rules[name] !== undefined,
    isFieldReadable: (name, field) =>
      !rules || [rules[name] ?? []].flat().some(({ fields }) => fields.includes('*') || fields.includes(field)),
  };
  const { field, args, of } =
    query.aggregate !== undefined || query.groupBy !== undefined
      ? groupsRoot(one, sight, collection)
      : rowsRoot(one, sight, collection);
  const moved =
    sendsFilterAsVariable && isPlainRestObject(args?.filter)
      ? { ...args, filter: new GraphqlVariableValue(`${collection.name}_filter`, unwrapVariables(args.filter)) }
      : args;
  return { key: field, of, ...renderGraphqlDocument('query', [{ field, ...(moved ? { args: moved } : {}), of }]) };
}

type RootWithEntries = DocumentRootField & { readonly of: readonly GraphqlSelectionEntry[] };

function groupsRoot(one: QueryCase, sight: ReadableSchema, collection: Collection): RootWithEntries {
  if (collection.singleton) throw new InexpressibleInGraphqlError('groups of a singleton');
  const { args, of } = toAggregatedSelection(sight, collection, one.query);
  return { field: `${collection.name}_aggregated`, args, of };
}

function rowsRoot({ query }: QueryCase, sight: ReadableSchema, collection: Collection): RootWithEntries {
  const { alias, deep } = query;
  const args = toGraphqlArguments(sight, collection, query, parseAliases(alias));
  if (collection.singleton && Object.keys(args).length > 0)
    throw new InexpressibleInGraphqlError('conditions on a singleton');
  if (deep !== undefined && !isPlainRestObject(deep)) throw new InexpressibleInGraphqlError(INEXPRESSIBLE_QUERY_STRING);
  // At the root of `deep` only relations have an effect.
  const relations = Object.entries(deep ?? {}).filter(([name]) => !name.startsWith('_'));
  const below = { parameters: { alias }, deep: Object.fromEntries(relations) };
  return {
    field: collection.name,
    args,
    of: toGraphqlSelectionEntries(sight, collection, toFieldList(query.fields), below),
  };
}

/** Replaces variables inside a variable by their values. */
const unwrapVariables = (value: unknown): unknown =>
  value instanceof GraphqlVariableValue
    ? value.value
    : Array.isArray(value)
      ? value.map(unwrapVariables)
      : isPlainRestObject(value)
        ? Object.fromEntries(Object.entries(value).map(([name, one]) => [name, unwrapVariables(one)]))
        : value;

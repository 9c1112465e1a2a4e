import type { Collection, SchemaOverview } from '../../../../plugins/schema/contract.ts';
import type { QueryCase } from '../../query/query-cases.ts';
import { isObject, toArguments } from './conditions.ts';
import {
  type DocumentEntry,
  type DocumentRequest,
  type DocumentRoot,
  Inexpressible,
  renderDocument,
  Variable,
} from './entries.ts';
import { toAggregatedSelection } from './groups.ts';
import { INEXPRESSIBLE_QUERY_STRING } from './query-paths.ts';
import type { ReadableSchema } from './readable-schema.ts';
import { parseAliases, toFieldList } from './requested-fields.ts';
import { toDocumentEntries } from './selection-entries.ts';

/** A REST query as a GraphQL document, and how the answer of REST is converted to that of GraphQL. */
export interface TranslatedCase extends DocumentRequest {
  /** Response key of the root field. */
  readonly key: string;
  readonly of: readonly DocumentEntry[];
}

interface Options {
  readonly snapshot: SchemaOverview;
  readonly keysOf: ReadableSchema['keysOf'];
  readonly includesHiddenNames?: boolean;
  /** Whether the filter of the root field is sent as a variable instead of a literal. */
  readonly sendsFilterAsVariable?: boolean;
}

/** Translates a query case of REST into a document. @throws Inexpressible for queries that GraphQL cannot express. */
export function translateCase(
  one: QueryCase,
  { snapshot, keysOf, includesHiddenNames = false, sendsFilterAsVariable = false }: Options,
): TranslatedCase {
  const { query, rules } = one;
  const collection = snapshot.collections.get(one.collection) as Collection;
  if (query.meta !== undefined) throw new Inexpressible('meta');
  if (query.backlink !== undefined) throw new Inexpressible('backlink');
  if (one.keys) throw new Inexpressible('a list of keys');
  if (one.unlimited) throw new Inexpressible('a read without ceiling');
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
    sendsFilterAsVariable && isObject(args?.filter)
      ? { ...args, filter: new Variable(`${collection.name}_filter`, unwrapVariables(args.filter)) }
      : args;
  return { key: field, of, ...renderDocument('query', [{ field, ...(moved ? { args: moved } : {}), of }]) };
}

type RootWithEntries = DocumentRoot & { readonly of: readonly DocumentEntry[] };

function groupsRoot(one: QueryCase, sight: ReadableSchema, collection: Collection): RootWithEntries {
  if (collection.singleton) throw new Inexpressible('groups of a singleton');
  const { args, of } = toAggregatedSelection(sight, collection, one.query);
  return { field: `${collection.name}_aggregated`, args, of };
}

function rowsRoot({ query }: QueryCase, sight: ReadableSchema, collection: Collection): RootWithEntries {
  const { alias, deep } = query;
  const args = toArguments(sight, collection, query, parseAliases(alias));
  if (collection.singleton && Object.keys(args).length > 0) throw new Inexpressible('conditions on a singleton');
  if (deep !== undefined && !isObject(deep)) throw new Inexpressible(INEXPRESSIBLE_QUERY_STRING);
  // At the root of `deep` only relations have an effect.
  const relations = Object.entries(deep ?? {}).filter(([name]) => !name.startsWith('_'));
  const below = { parameters: { alias }, deep: Object.fromEntries(relations) };
  return { field: collection.name, args, of: toDocumentEntries(sight, collection, toFieldList(query.fields), below) };
}

/** Replaces variables inside a variable by their values. */
const unwrapVariables = (value: unknown): unknown =>
  value instanceof Variable
    ? value.value
    : Array.isArray(value)
      ? value.map(unwrapVariables)
      : isObject(value)
        ? Object.fromEntries(Object.entries(value).map(([name, one]) => [name, unwrapVariables(one)]))
        : value;

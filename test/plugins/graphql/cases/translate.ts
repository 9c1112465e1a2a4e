import type { Collection, Overview } from '../../../../plugins/schema/contract.ts';
import type { Case } from '../../query/harness.ts';
import { argumentsOf, isObject } from './conditions.ts';
import { type Asked, documentOf, type Entry, Inexpressible, type Root, Variable } from './entries.ts';
import { groupsOf } from './groups.ts';
import { QUERY_STRINGS } from './names.ts';
import { shownOf } from './shown.ts';
import type { Sight } from './sight.ts';
import { aliasesOf, fieldsOf } from './wanted.ts';

/** A question to REST as a document, and how its answer is read as that of REST. */
export interface Translated extends Asked {
  /** Of the answer. */
  readonly key: string;
  readonly of: readonly Entry[];
}

interface Options {
  readonly overview: Overview;
  readonly keysOf: Sight['keysOf'];
  readonly bold?: boolean;
  /** The filter of the root is sent beside the document, not in it. */
  readonly aside?: boolean;
}

/** Throws `Inexpressible` for what GraphQL has no way to ask. */
export function translated(one: Case, { overview, keysOf, bold = false, aside = false }: Options): Translated {
  const { query, rules } = one;
  const collection = overview.collections.get(one.collection) as Collection;
  if (query.meta !== undefined) throw new Inexpressible('meta');
  if (query.backlink !== undefined) throw new Inexpressible('backlink');
  if (one.keys) throw new Inexpressible('a list of keys');
  if (one.unlimited) throw new Inexpressible('a read without ceiling');
  const sight: Sight = {
    overview,
    keysOf,
    bold,
    opens: (name) => !rules || rules[name] !== undefined,
    knows: (name, field) =>
      !rules || [rules[name] ?? []].flat().some(({ fields }) => fields.includes('*') || fields.includes(field)),
  };
  const { field, args, of } =
    query.aggregate !== undefined || query.groupBy !== undefined
      ? groupsRoot(one, sight, collection)
      : rowsRoot(one, sight, collection);
  const moved =
    aside && isObject(args?.filter)
      ? { ...args, filter: new Variable(`${collection.name}_filter`, plain(args.filter)) }
      : args;
  return { key: field, of, ...documentOf('query', [{ field, ...(moved ? { args: moved } : {}), of }]) };
}

type Shown = Root & { readonly of: readonly Entry[] };

function groupsRoot(one: Case, sight: Sight, collection: Collection): Shown {
  if (collection.singleton) throw new Inexpressible('groups of a singleton');
  const { args, of } = groupsOf(sight, collection, one.query);
  return { field: `${collection.name}_aggregated`, args, of };
}

function rowsRoot({ query }: Case, sight: Sight, collection: Collection): Shown {
  const { alias, deep } = query;
  const args = argumentsOf(sight, collection, query, aliasesOf(alias));
  if (collection.singleton && Object.keys(args).length > 0) throw new Inexpressible('conditions on a singleton');
  if (deep !== undefined && !isObject(deep)) throw new Inexpressible(QUERY_STRINGS);
  // At the root only relations have a meaning.
  const relations = Object.entries(deep ?? {}).filter(([name]) => !name.startsWith('_'));
  const below = { own: { alias }, deep: Object.fromEntries(relations) };
  return { field: collection.name, args, of: shownOf(sight, collection, fieldsOf(query.fields), below) };
}

/** Variables inside a variable are its own values. */
const plain = (value: unknown): unknown =>
  value instanceof Variable
    ? value.value
    : Array.isArray(value)
      ? value.map(plain)
      : isObject(value)
        ? Object.fromEntries(Object.entries(value).map(([name, one]) => [name, plain(one)]))
        : value;

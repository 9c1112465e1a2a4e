import type {
  GroupSelection,
  RawQuery,
  ReadNode,
  RowSelection,
  SelectionItem,
  SelectionListParameters,
} from '../../query/contract.ts';
import { toAggregateParameter } from '../../query/library.ts';
import { createRestGroupConverter, createRestRowConverter, MANY_TO_ANY_COLLECTION_KEY } from './row-converters.ts';

// Listeners know fields by their names and queries as REST clients write them. With listeners a selection is therefore
// read without its aliases, and the answer is made of the rows that the listeners return.

/** The fields to read of a row so that all entries of a selection can be made of it. */
export interface RestRowLayout {
  readonly shown: readonly SelectionItem[];
  /** The key in the row for each entry of the selection. */
  readonly keys: ReadonlyMap<SelectionItem, string>;
  /** The layouts of related rows: by key, and by `key:collection` of a many-to-any. */
  readonly nested: ReadonlyMap<string, RestRowLayout>;
  /** The same fields as query parameters. */
  readonly query: Pick<RawQuery, 'fields' | 'alias' | 'deep'>;
}

export interface SelectionRestRepresentation {
  readonly query: RawQuery;
  /** Read in place of the original selection; groups are read as the query says. */
  readonly selection?: RowSelection;
  /** The keys of the entries in the query. */
  readonly layout?: RestRowLayout;
  /** Creates the conversion of a row that was read to a row of the answer. */
  createRowShape(read: ReadNode): (row: unknown) => unknown;
}

export function toSelectionRestRepresentation(selection: RowSelection | GroupSelection): SelectionRestRepresentation {
  const { parameters: terms } = selection;
  if ('groups' in selection) {
    const aggregate = toAggregateParameter(selection.groups);
    const query = { aggregate: isEmpty(aggregate) ? { countAll: ['*'] } : aggregate, ...selection.parameters };
    return { query, createRowShape: (read) => createRestGroupConverter(selection, read) };
  }
  const layout = buildRestLayout(selection.items);
  return {
    query: { ...layout.query, ...terms },
    selection: { ...(terms ? { parameters: terms } : {}), items: layout.shown },
    layout,
    createRowShape: () => createRestRowConverter(selection, layout),
  };
}

type NamedItem = Extract<SelectionItem, { kind: 'column' | 'related' | 'any' }>;

/** Every field once, however often it is requested; a relation once for each set of conditions. */
function buildRestLayout(shown: readonly SelectionItem[]): RestRowLayout {
  const all = shown.flatMap(namedItemsOf);
  const itemsByIdentity = Map.groupBy(all, readIdentity);
  const names = assignNames(itemsByIdentity);
  const keys = new Map<SelectionItem, string>(all.map((one) => [one, names.get(readIdentity(one)) as string]));
  const nested = new Map<string, RestRowLayout>();
  const fields: string[] = [];
  const alias: Record<string, string> = {};
  const deep: Record<string, unknown> = {};

  function addNested(
    key: string,
    { parameters: terms = {} }: RowSelection,
    inner: readonly SelectionItem[],
  ): readonly SelectionItem[] {
    const layout = buildRestLayout(inner);
    nested.set(key, layout);
    const { fields: nestedFields, alias: nestedAlias, deep: nestedDeep } = layout.query;
    const paths = nestedFields as readonly string[];
    fields.push(...(paths.length > 0 ? paths.map((path) => `${key}.${path}`) : [key]));
    const own = Object.entries({ ...terms, ...(nestedAlias ? { alias: nestedAlias } : {}) });
    const node = { ...Object.fromEntries(own.map(([name, value]) => [`_${name}`, value])), ...(nestedDeep as object) };
    if (Object.keys(node).length > 0) deep[key] = node;
    return layout.shown;
  }

  const read = [...itemsByIdentity].map(([id, entries]): SelectionItem => {
    const [one] = entries as [NamedItem];
    const key = names.get(id) as string;
    if (key !== restKeyOf(one)) alias[key] = queryNameOf(one);
    if (one.kind === 'column') {
      fields.push(key === restKeyOf(one) ? queryNameOf(one) : key);
      return { kind: 'column', key, field: one.field, ...(one.fn ? { fn: one.fn } : {}) };
    }
    if (one.kind === 'related') {
      const inner = entries.flatMap((entry) => (entry.kind === 'related' ? entry.selection.items : []));
      return { ...one, key, selection: { ...one.selection, items: addNested(key, one.selection, inner) } };
    }
    const items = entries.flatMap((entry) => (entry.kind === 'any' ? Object.entries(entry.of) : []));
    const of = [...Map.groupBy(items, ([name]) => name)].map(([name, selections]) => {
      const [[, selection]] = selections as [[string, RowSelection]];
      const collectionItem: SelectionItem = { kind: 'constant', key: MANY_TO_ANY_COLLECTION_KEY, value: name };
      const inner = selections.flatMap(([, nestedSelection]) => nestedSelection.items);
      return [
        name,
        { ...selection, items: [collectionItem, ...addNested(`${key}:${name}`, selection, inner)] },
      ] as const;
    });
    return { ...one, key, of: Object.fromEntries(of) };
  });
  const query = { fields, ...(isEmpty(alias) ? {} : { alias }), ...(isEmpty(deep) ? {} : { deep }) };
  return { shown: read, keys, nested, query };
}

const isEmpty = (one: object): boolean => Object.keys(one).length === 0;

/** The columns and relations of an entry: members of an `object` entry are fields of the same row. */
const namedItemsOf = (one: SelectionItem): readonly NamedItem[] =>
  one.kind === 'object' ? one.items.flatMap(namedItemsOf) : one.kind === 'constant' ? [] : [one];

/** Entries with the same identity read the same field, or more fields of the same related rows. */
function readIdentity(one: NamedItem): string {
  if (one.kind === 'column') return JSON.stringify([one.field, one.fn]);
  if (one.kind === 'related') return JSON.stringify(['', one.field, sortTerms(one.selection.parameters)]);
  const conditions = Object.entries(one.of).map(([name, { parameters: terms }]): [string, object] => [
    name,
    sortTerms(terms),
  ]);
  return JSON.stringify(['', one.field, conditions.filter(([, terms]) => !isEmpty(terms))]);
}

const sortTerms = (terms: SelectionListParameters = {}): object =>
  Object.fromEntries(
    Object.entries(terms)
      .filter(([, value]) => value !== undefined)
      .toSorted(([a], [b]) => (a < b ? -1 : 1)),
  );

/**
 * Entries are named as in REST unless the name is taken. Relations get their name first, then fields, then functions,
 * since listeners know them by that name.
 */
function assignNames(itemsByIdentity: ReadonlyMap<string, readonly NamedItem[]>): ReadonlyMap<string, string> {
  const all = [...itemsByIdentity].map(([id, entries]) => ({ id, one: entries[0] as NamedItem }));
  const names = new Map<string, string>();
  const taken = new Set<string>();
  const take = (id: string, name: string) => {
    if (taken.has(name)) return;
    taken.add(name);
    names.set(id, name);
  };
  for (const { id, one } of all.toSorted((a, b) => nameRankOf(a.one) - nameRankOf(b.one))) take(id, restKeyOf(one));
  for (const { id, one } of all) for (let n = 2; !names.has(id); n++) take(id, `${restKeyOf(one)}_${n}`);
  return names;
}

const nameRankOf = (one: NamedItem): number => (one.kind !== 'column' ? 0 : one.fn ? 2 : 1);

/** The name of an entry in a query: `year(published)`, where `published_year` is its key in a row. */
const queryNameOf = (one: NamedItem): string => {
  const fn = one.kind === 'column' ? one.fn : undefined;
  return fn ? `${fn.name}(${[one.field, ...(fn.path === undefined ? [] : [fn.path])].join(', ')})` : one.field;
};

const restKeyOf = (one: NamedItem): string => {
  const fn = one.kind === 'column' ? one.fn : undefined;
  return fn ? [one.field, ...(fn.path ?? '').split(/[.[\]]+/).filter(Boolean), fn.name].join('_') : one.field;
};

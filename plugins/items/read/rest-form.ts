import type { GroupSelection, RawQuery, Read, Selected, Selection, Terms } from '../../query/contract.ts';
import { aggregateOf } from '../../query/library.ts';
import { COLLECTION, groupShape, rowShape } from './shaped.ts';

// Listeners know fields by their names, and queries as clients of REST write them. For them a selection is read without
// what a document calls things, and its answer made of the rows they leave.

/** What is read of a row so that all entries of a selection can be made of it. */
export interface Form {
  readonly shown: readonly Selected[];
  /** What an entry of the selection is called in the row. */
  readonly keys: ReadonlyMap<Selected, string>;
  /** What is read behind relations: by key, and by `key:collection` of a many-to-any. */
  readonly behind: ReadonlyMap<string, Form>;
  /** The same as a query says it. */
  readonly query: Pick<RawQuery, 'fields' | 'alias' | 'deep'>;
}

export interface RestForm {
  readonly query: RawQuery;
  /** To be read in place of the one it was made of; groups are read as the query says. */
  readonly selection?: Selection;
  /** What its entries are called in the query. */
  readonly form?: Form;
  /** How a row of the answer is made of one that was read. */
  shape(read: Read): (row: unknown) => unknown;
}

export function restForm(selection: Selection | GroupSelection): RestForm {
  const { terms } = selection;
  if ('groups' in selection) {
    const aggregate = aggregateOf(selection.groups);
    const query = { aggregate: isEmpty(aggregate) ? { countAll: ['*'] } : aggregate, ...selection.terms };
    return { query, shape: (read) => groupShape(selection, read) };
  }
  const form = formOf(selection.shown);
  return {
    query: { ...form.query, ...terms },
    selection: { ...(terms ? { terms } : {}), shown: form.shown },
    form,
    shape: () => rowShape(selection, form),
  };
}

type Named = Extract<Selected, { kind: 'column' | 'related' | 'any' }>;

/** Every field once, however often it is asked for; a relation once for each set of conditions. */
function formOf(shown: readonly Selected[]): Form {
  const all = shown.flatMap(named);
  const same = Map.groupBy(all, identity);
  const names = namesOf(same);
  const keys = new Map<Selected, string>(all.map((one) => [one, names.get(identity(one)) as string]));
  const behind = new Map<string, Form>();
  const fields: string[] = [];
  const alias: Record<string, string> = {};
  const deep: Record<string, unknown> = {};

  function nested(key: string, { terms = {} }: Selection, inner: readonly Selected[]): readonly Selected[] {
    const form = formOf(inner);
    behind.set(key, form);
    const { fields: below, alias: called, deep: deeper } = form.query;
    const paths = below as readonly string[];
    fields.push(...(paths.length > 0 ? paths.map((path) => `${key}.${path}`) : [key]));
    const own = Object.entries({ ...terms, ...(called ? { alias: called } : {}) });
    const node = { ...Object.fromEntries(own.map(([name, value]) => [`_${name}`, value])), ...(deeper as object) };
    if (Object.keys(node).length > 0) deep[key] = node;
    return form.shown;
  }

  const read = [...same].map(([id, entries]): Selected => {
    const [one] = entries as [Named];
    const key = names.get(id) as string;
    if (key !== keyInRest(one)) alias[key] = inQuery(one);
    if (one.kind === 'column') {
      fields.push(key === keyInRest(one) ? inQuery(one) : key);
      return { kind: 'column', key, field: one.field, ...(one.fn ? { fn: one.fn } : {}) };
    }
    if (one.kind === 'related') {
      const inner = entries.flatMap((entry) => (entry.kind === 'related' ? entry.selection.shown : []));
      return { ...one, key, selection: { ...one.selection, shown: nested(key, one.selection, inner) } };
    }
    const items = entries.flatMap((entry) => (entry.kind === 'any' ? Object.entries(entry.of) : []));
    const of = [...Map.groupBy(items, ([name]) => name)].map(([name, asked]) => {
      const [[, selection]] = asked as [[string, Selection]];
      const mark: Selected = { kind: 'constant', key: COLLECTION, value: name };
      const inner = asked.flatMap(([, { shown }]) => shown);
      return [name, { ...selection, shown: [mark, ...nested(`${key}:${name}`, selection, inner)] }] as const;
    });
    return { ...one, key, of: Object.fromEntries(of) };
  });
  const query = { fields, ...(isEmpty(alias) ? {} : { alias }), ...(isEmpty(deep) ? {} : { deep }) };
  return { shown: read, keys, behind, query };
}

const isEmpty = (one: object): boolean => Object.keys(one).length === 0;

/** Members of objects are of the same row. */
const named = (one: Selected): readonly Named[] =>
  one.kind === 'object' ? one.shown.flatMap(named) : one.kind === 'constant' ? [] : [one];

/** Entries with the same read the same, or more of the same rows. */
function identity(one: Named): string {
  if (one.kind === 'column') return JSON.stringify([one.field, one.fn]);
  if (one.kind === 'related') return JSON.stringify(['', one.field, sorted(one.selection.terms)]);
  const conditions = Object.entries(one.of).map(([name, { terms }]): [string, object] => [name, sorted(terms)]);
  return JSON.stringify(['', one.field, conditions.filter(([, terms]) => !isEmpty(terms))]);
}

const sorted = (terms: Terms = {}): object =>
  Object.fromEntries(
    Object.entries(terms)
      .filter(([, value]) => value !== undefined)
      .toSorted(([a], [b]) => (a < b ? -1 : 1)),
  );

/**
 * Everything is called as in REST, but for what would be called like something else: what listeners know by a name has it
 * first, relations before their bare keys and fields before functions.
 */
function namesOf(same: ReadonlyMap<string, readonly Named[]>): ReadonlyMap<string, string> {
  const all = [...same].map(([id, entries]) => ({ id, one: entries[0] as Named }));
  const names = new Map<string, string>();
  const taken = new Set<string>();
  const take = (id: string, name: string) => {
    if (taken.has(name)) return;
    taken.add(name);
    names.set(id, name);
  };
  for (const { id, one } of all.toSorted((a, b) => rankOf(a.one) - rankOf(b.one))) take(id, keyInRest(one));
  for (const { id, one } of all) for (let n = 2; !names.has(id); n++) take(id, `${keyInRest(one)}_${n}`);
  return names;
}

const rankOf = (one: Named): number => (one.kind !== 'column' ? 0 : one.fn ? 2 : 1);

/** `year(published)`, and `published_year` in a row. */
const inQuery = (one: Named): string => {
  const fn = one.kind === 'column' ? one.fn : undefined;
  return fn ? `${fn.name}(${[one.field, ...(fn.path === undefined ? [] : [fn.path])].join(', ')})` : one.field;
};

const keyInRest = (one: Named): string => {
  const fn = one.kind === 'column' ? one.fn : undefined;
  return fn ? [one.field, ...(fn.path ?? '').split(/[.[\]]+/).filter(Boolean), fn.name].join('_') : one.field;
};

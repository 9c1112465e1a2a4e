import type { GraphQLFieldResolver } from 'graphql';
import {
  aggregateValues,
  compareColumnValues,
  computeQueryFunction,
  type FilterOperators,
  matchesOperators,
  slicePage,
} from './reference-operators.ts';
import { type ColumnKind, REFERENCE_TABLES, type ReferenceTable, type ReferenceTableRow } from './reference-rows.ts';

// Resolvers of the reference implementation, as simple as possible: rows in memory, one resolver call for each value.

type Rows = ReadonlyMap<string, readonly ReferenceTableRow[]>;
type Args = Readonly<Record<string, unknown>>;
/** Represents a missing many-to-one row: all its fields are null, its lists empty. */
const NO_ROW = { __typename: '' } as ReferenceTableRow;

export function createReferenceResolver(all: Rows): GraphQLFieldResolver<unknown, unknown> {
  const tableOf = (name: string): ReferenceTable => REFERENCE_TABLES[name] as ReferenceTable;
  const rowsOf = (name: string): readonly ReferenceTableRow[] => all.get(name) ?? [];
  const byKey = (name: string, key: unknown): ReferenceTableRow | null =>
    rowsOf(name).find(({ id }) => key !== null && String(id) === String(key)) ?? null;
  const relatedRows = (name: string, row: ReferenceTableRow, field: string): readonly ReferenceTableRow[] => {
    const { of, by } = tableOf(name).many[field] as ReferenceTable['many'][string];
    return rowsOf(of).filter((one) => one[by] !== null && one[by] === row.id);
  };
  const anyOf = (name: string, row: ReferenceTableRow, field: string): ReferenceTableRow | null => {
    const { by, of } = tableOf(name).any[field] as ReferenceTable['any'][string];
    return of.includes(row[by] as string) ? byKey(row[by] as string, row[field] ?? null) : null;
  };
  function applyTo(name: string, row: ReferenceTableRow, field: string, fn: string, path?: string): unknown {
    if (row === NO_ROW) return null;
    return tableOf(name).many[field]
      ? relatedRows(name, row, field).length
      : computeQueryFunction(fn, row[field] ?? null, path);
  }

  function matches(name: string, row: ReferenceTableRow, filter: FilterOperators): boolean {
    const { columns, one, many } = tableOf(name);
    return Object.entries(filter).every(([key, rule]) => {
      if (rule === null || rule === undefined) return true;
      const rules = rule as FilterOperators;
      if (key === '_and') return (rule as readonly FilterOperators[]).every((inner) => matches(name, row, inner));
      if (key === '_or')
        return (
          (rule as readonly FilterOperators[]).length === 0 ||
          (rule as readonly FilterOperators[]).some((inner) => matches(name, row, inner))
        );
      if (key.endsWith('_func')) {
        const of = key.slice(0, -'_func'.length);
        // A missing row has no list, not even an empty one.
        if (row === NO_ROW && many[of]) return false;
        return Object.entries(rules).every(([fn, inner]) =>
          matchesOperators('number', applyTo(name, row, of, fn) ?? null, inner as FilterOperators),
        );
      }
      const [field = '', target] = key.split('__');
      if (target !== undefined) {
        const found = anyOf(name, row, field);
        return found?.__typename === target && matches(target, found, rules);
      }
      const { [key]: to } = one;
      if (to !== undefined) return matches(to, byKey(to, row[key] ?? null) ?? NO_ROW, rules);
      const { [key]: list } = many;
      if (list) {
        const rows = relatedRows(name, row, key);
        const { _some, _none, ...rest } = rules;
        const fits = (inner: unknown) => rows.some((each) => matches(list.of, each, inner as FilterOperators));
        return (
          (_some === undefined || fits(_some)) &&
          (_none === undefined || !fits(_none)) &&
          (Object.keys(rest).length === 0 || fits(rest))
        );
      }
      return matchesOperators(columns[key] ?? 'other', row[key] ?? null, rules);
    });
  }

  /** The value of an entry of `sort` or `groupBy`: `title`, `author.name`, `year(published)`. */
  function valueAt(name: string, row: ReferenceTableRow, path: string): [value: unknown, kind: ColumnKind] {
    const [first = '', ...rest] = path.split('.');
    const to = tableOf(name).one[first];
    if (rest.length > 0 && to) return valueAt(to, byKey(to, row[first] ?? null) ?? NO_ROW, rest.join('.'));
    const called = /^(\w+)\((\w+)\)$/.exec(path);
    if (called) return [applyTo(name, row, called[2] as string, called[1] as string), 'number'];
    return [row[path] ?? null, tableOf(name).columns[path] ?? 'other'];
  }

  function listRows(
    name: string,
    rows: readonly ReferenceTableRow[],
    args: Args,
    order?: string,
  ): readonly ReferenceTableRow[] {
    const { filter, search, sort, limit, offset, page } = args;
    const sorts = (sort as readonly string[] | null | undefined) ?? (order === undefined ? [] : [order]);
    const found = rows
      .filter((row) => matches(name, row, (filter ?? {}) as FilterOperators))
      .filter((row) => !search || isFound(name, row, search as string))
      .toSorted((a, b) => {
        for (const entry of [...sorts, 'id']) {
          const path = entry.replace(/^-/, '');
          const [one, kind] = valueAt(name, a, path);
          const [other] = valueAt(name, b, path);
          const before = compareColumnValues(kind, one, other);
          if (before !== 0) return entry.startsWith('-') ? -before : before;
        }
        return 0;
      });
    return slicePage(found, limit, offset, page);
  }

  /** The row behind a many-to-one if it matches filter and search, else null. */
  const matchingOne = (
    name: string,
    row: ReferenceTableRow | null,
    { filter, search }: Args,
  ): ReferenceTableRow | null => (row ? (listRows(name, [row], { filter, search })[0] ?? null) : null);

  /** Searches texts, text keys included, but no keys that are numbers or UUIDs. */
  function isFound(name: string, row: ReferenceTableRow, search: string): boolean {
    const { columns, one, any } = tableOf(name);
    const texts = Object.keys(columns).filter((field) => columns[field] === 'text' || columns[field] === 'key');
    return [...texts, ...Object.keys(one), ...Object.keys(any)].some((field) => {
      const value = row[field];
      return typeof value === 'string' && !/^0{8}-/.test(value) && value.toLowerCase().includes(search.toLowerCase());
    });
  }

  function groupRows(name: string, args: Args): readonly object[] {
    const by = ((args.groupBy ?? []) as readonly string[]).filter((one) => one !== null);
    const rows = rowsOf(name).filter((row) => matches(name, row, (args.filter ?? {}) as FilterOperators));
    const groups = new Map<string, ReferenceTableRow[]>(by.length === 0 ? [['', []]] : []);
    for (const row of rows) {
      const key = by.length === 0 ? '' : JSON.stringify(by.map((path) => valueAt(name, row, path)[0]));
      groups.set(key, [...(groups.get(key) ?? []), row]);
    }
    const groupList = [...groups.values()].map((members) => ({ name, members, by }));
    const ordered = groupList.toSorted((a, b) => {
      for (const path of by) {
        const [one, kind] = valueAt(name, a.members[0] as ReferenceTableRow, path);
        const before = compareColumnValues(kind, one, valueAt(name, b.members[0] as ReferenceTableRow, path)[0]);
        if (before !== 0) return before;
      }
      return 0;
    });
    return slicePage(ordered, args.limit, args.offset, args.page);
  }

  return (source, args, _context, { fieldName, parentType: { name: parent } }) => {
    if (parent === 'Query') return root(fieldName, args);
    const { many, one, any, functions } = REFERENCE_TABLES[parent] ?? {};
    const row = source as ReferenceTableRow;
    const list = many?.[fieldName];
    if (list) return listRows(list.of, relatedRows(parent, row, fieldName), args, list.order);
    const to = one?.[fieldName];
    if (to !== undefined) return matchingOne(to, byKey(to, row[fieldName] ?? null), args);
    if (any?.[fieldName]) return anyOf(parent, row, fieldName);
    const field = fieldName.replace(/_func$/, '');
    if (field !== fieldName && functions?.[field]) return { name: parent, row, field };
    if (REFERENCE_TABLES[parent]) return row[fieldName] ?? null;
    if (/_functions?$|_func$/.test(parent)) {
      const of = source as { name: string; row: ReferenceTableRow; field: string };
      return applyTo(of.name, of.row, of.field, fieldName, args.path as string | undefined);
    }
    return aggregateField(source as Group, fieldName);
  };

  function root(fieldName: string, args: Args): unknown {
    const name = fieldName.replace(/_(by_id|aggregated)$/, '');
    if (fieldName.endsWith('_by_id')) return byKey(name, args.id);
    if (fieldName.endsWith('_aggregated')) return groupRows(name, args);
    return tableOf(name).singleton ? (rowsOf(name)[0] ?? null) : listRows(name, rowsOf(name), args);
  }

  type Group = { name: string; members: readonly ReferenceTableRow[]; by: readonly string[]; fn?: string };

  function aggregateField(group: Group, fieldName: string): unknown {
    const { name, members, by, fn } = group;
    if (fn !== undefined)
      return aggregateValues(
        fn,
        members.map((row) => row[fieldName] ?? null).filter((one) => one !== null),
      );
    if (fieldName === 'countAll') return members.length;
    if (fieldName !== 'group') return { ...group, fn: fieldName };
    if (by.length === 0) return null;
    const [row = NO_ROW] = members;
    return Object.fromEntries(
      by.map((path) => [path.replace(/^(\w+)\((\w+)\)$/, '$2_$1'), valueAt(name, row, path)[0]]),
    );
  }
}

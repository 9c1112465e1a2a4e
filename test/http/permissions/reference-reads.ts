import { hasCompositeKey, renderRowKey } from './keys.ts';
import { ReferenceReadabilityChecker } from './reference-checks.ts';
import { compareScalarValues, parseManyToAnyName, parseOptionalFunctionCall } from './reference-conditions.ts';
import {
  type FieldTree,
  type ListParameters,
  type ListRequest,
  type PermissionTestModel,
  type PermissionTestRow,
  ReferenceRefusalError,
} from './reference-types.ts';

const MASK = '**********';

/** The part of the in-memory reference that computes the expected answers of reads. */
export class ReferenceReadExecutor extends ReferenceReadabilityChecker {
  /** The expected answer of a list read. @throws Refused if the service must answer FORBIDDEN */
  list(collection: string, request: ListRequest): { data: unknown[]; total: number; filtered: number } {
    this.assertCollectionReadable(collection);
    const { fields, ...rest } = request;
    const terms = { ...rest, sort: typeof rest.sort === 'string' ? [rest.sort] : rest.sort };
    this.assertParametersReadable(collection, terms);
    if (!request.aggregate && !request.groupBy) this.assertRelationsReadable(collection, fields, terms);
    const visible = (this.rows[collection] ?? []).filter((row) => this.isAllowedRow(collection, 'read', row));
    const found = this.matching(collection, visible, terms);
    const data =
      request.aggregate || request.groupBy
        ? this.groups(collection, found, terms)
        : this.page(collection, found, request.keys ?? terms).map((row) =>
            this.renderRow(collection, fields, row, terms.deep),
          );
    return { data, total: visible.length, filtered: found.length };
  }

  /** The expected answer of a read by key; undefined for an unreadable row. */
  single(
    collection: string,
    { fields, deep }: Pick<ListRequest, 'fields' | 'deep'>,
    row: PermissionTestRow,
  ): object | undefined {
    this.assertCollectionReadable(collection);
    this.assertRelationsReadable(collection, fields, deep ? { deep } : {});
    return this.isAllowedRow(collection, 'read', row) ? this.renderRow(collection, fields, row, deep) : undefined;
  }

  /** The rows that a list read finds, with all of their columns. */
  rowsFound(collection: string, { keys, ...request }: Omit<ListRequest, 'fields'>): readonly PermissionTestRow[] {
    this.assertCollectionReadable(collection);
    const terms = { ...request, sort: typeof request.sort === 'string' ? [request.sort] : request.sort };
    this.assertParametersReadable(collection, terms);
    const visible = (this.rows[collection] ?? []).filter((row) => this.isAllowedRow(collection, 'read', row));
    return this.page(collection, this.matching(collection, visible, terms), keys ?? terms);
  }

  private matching(
    collection: string,
    rows: readonly PermissionTestRow[],
    { filter, search }: ListParameters,
  ): readonly PermissionTestRow[] {
    return rows.filter(
      (row) =>
        (!filter || this.matches(collection, filter, row, true) === true) &&
        (search === undefined || this.matchesSearch(collection, row, search)),
    );
  }

  private page(
    collection: string,
    rows: readonly PermissionTestRow[],
    by: ListParameters | readonly unknown[],
  ): readonly PermissionTestRow[] {
    const model = this.model[collection] as PermissionTestModel[string];
    if (Array.isArray(by)) return by.flatMap((one) => rows.filter((row) => renderRowKey(model, row) === one));
    const { sort = [], limit, offset = 0 } = by as ListParameters;
    return slicePage(this.sorted(collection, rows, sort), offset, limit);
  }

  /** Asserts that the fields of conditions, orders and groups are readable. */
  private assertParametersReadable(
    collection: string,
    { filter, sort = [], aggregate, groupBy }: ListParameters,
  ): void {
    if (filter) this.assertFilterReadable(collection, filter);
    if (!aggregate && !groupBy) for (const one of sort) this.assertSortReadable(collection, one);
    const fields = [...Object.values(aggregate ?? {}).flat(), ...(groupBy ?? [])];
    for (const name of fields) {
      if (name === '*') continue;
      this.assertFieldReadable(collection, name);
      if (this.model[collection]?.plain[name] === 'masked') throw new ReferenceRefusalError();
    }
  }

  /** Asserts that the fields in `deep` of the requested relations are readable; `deep` of other relations is ignored. */
  private assertRelationsReadable(collection: string, fields: FieldTree, { deep = {} }: ListParameters): void {
    const { manyToOne, toMany } = this.model[collection] as PermissionTestModel[string];
    for (const [name, more] of Object.entries(fields)) {
      const any = parseManyToAnyName(name);
      if (!this.isReadable(collection, any?.field ?? name)) continue;
      const to = any?.to ?? toMany[name]?.to ?? manyToOne[name];
      if (!to || (more === true && !toMany[name])) continue;
      this.assertParametersReadable(to, deep[name] ?? {});
      if (more !== true) this.assertRelationsReadable(to, more, deep[name] ?? {});
    }
  }

  private assertSortReadable(collection: string, sort: string): void {
    let at = collection;
    const path = steps(sort);
    for (const [depth, name] of path.entries()) {
      if (depth === path.length - 1) {
        this.assertFieldReadable(at, name);
        if (this.model[at]?.plain[name] === 'masked') throw new ReferenceRefusalError();
        return;
      }
      this.assertReadable(at, name);
      at = this.model[at]?.manyToOne[name] ?? (this.model[at]?.toMany[name]?.to as string);
      this.assertCollectionReadable(at);
    }
  }

  protected sorted(
    collection: string,
    rows: readonly PermissionTestRow[],
    sort: readonly string[],
  ): readonly PermissionTestRow[] {
    const { key } = this.model[collection] as PermissionTestModel[string];
    const all = sort.map((one) => ({ path: steps(one), isDown: one.startsWith('-') }));
    return [...rows].sort((a, b) => {
      for (const { path, isDown } of all) {
        const value = (row: PermissionTestRow) => this.sortValue(collection, path, row, isDown);
        const sign = nullsLast(value(a), value(b));
        if (sign !== 0) return isDown ? -sign : sign;
      }
      return key.map((column) => compareScalarValues(a[column], b[column])).find((sign) => sign !== 0) ?? 0;
    });
  }

  /** The value by which a row is sorted; for a path through a to-many alias it is the value that sorts first. */
  private sortValue(
    collection: string,
    [name = '', ...rest]: readonly string[],
    row: PermissionTestRow,
    isDown: boolean,
  ): unknown {
    if (rest.length === 0) return this.value(collection, name, row, true);
    const { manyToOne, toMany } = this.model[collection] as PermissionTestModel[string];
    if (toMany[name]) {
      const { to } = toMany[name];
      const values = this.children(collection, name, row, true).map((kid) => this.sortValue(to, rest, kid, isDown));
      return values.sort((a, b) => (isDown ? -nullsLast(a, b) : nullsLast(a, b)))[0] ?? null;
    }
    const target = this.target(collection, name, row, true);
    return target
      ? this.sortValue(manyToOne[name] as string, rest, target, isDown)
      : this.valueOfMissingRow(manyToOne[name] as string, rest);
  }

  /** The value by which a row without its related row is sorted: null, or 0 for a readable count. */
  private valueOfMissingRow(collection: string, path: readonly string[]): unknown {
    const [name = '', ...rest] = path;
    const { manyToOne, toMany } = this.model[collection] as PermissionTestModel[string];
    if (rest.length > 0) return manyToOne[name] && !toMany[name] ? this.valueOfMissingRow(manyToOne[name], rest) : null;
    const { fn, field } = parseOptionalFunctionCall(name);
    if (fn !== 'count') return null;
    const listing = this.of(collection, 'read').filter((one) => this.listsField(one, collection, field));
    const isAlways = listing.length === this.of(collection, 'read').length;
    return isAlways || listing.some((one) => this.allowsRow(collection, one, {})) ? 0 : null;
  }

  private matchesSearch(collection: string, row: PermissionTestRow, term: string): boolean {
    const { plain, key, keyType, manyToOne, manyToAny } = this.model[collection] as PermissionTestModel[string];
    return [...key, ...Object.keys({ ...plain, ...manyToOne, ...manyToAny })].some((name) => {
      const value = this.value(collection, name, row, true);
      if (value === null || plain[name] === 'masked' || plain[name] === 'moment') return false;
      if (plain[name] === 'text' || manyToAny?.[name]) return String(value).toLowerCase().includes(term.toLowerCase());
      if (key.includes(name) && keyType === 'uuid') return String(value) === term.toLowerCase();
      return String(value) === term;
    });
  }

  /** The groups of a read with `aggregate` or `groupBy`. Functions see null on rows where the field is unreadable. */
  private groups(collection: string, rows: readonly PermissionTestRow[], request: ListParameters): object[] {
    const { aggregate = {}, groupBy = [], sort = [] } = request;
    const groups = new Map<string, { keys: unknown[]; rows: PermissionTestRow[] }>();
    if (groupBy.length === 0) groups.set('[]', { keys: [], rows: [] });
    for (const row of rows) {
      const keys = groupBy.map((name) => this.value(collection, name, row, true));
      const id = JSON.stringify(keys);
      const group = groups.get(id) ?? { keys, rows: [] };
      groups.set(id, { keys, rows: [...group.rows, row] });
    }
    const groupRows = [...groups.values()].map(({ keys, rows: members }) => {
      const functions = Object.entries(aggregate).map(([fn, fields]) => {
        const results = Object.fromEntries(
          fields.map((field) => [
            field,
            field === '*'
              ? members.length
              : aggregateValues(
                  fn,
                  members.map((row) => this.value(collection, field, row, true)).filter((value) => value !== null),
                ),
          ]),
        );
        return [fn, results] as const;
      });
      return { keys, functions: Object.fromEntries(functions) };
    });
    const terms = [
      ...sort.map((text) => ({ text: text.replace('-', ''), isDown: text.startsWith('-') })),
      ...groupBy
        .filter((name) => !sort.some((one) => one.replace('-', '') === name))
        .map((text) => ({ text, isDown: false })),
    ];
    groupRows.sort((a, b) => {
      for (const { text, isDown } of terms) {
        const at = groupBy.indexOf(text);
        const [fn = '', field = ''] = text.split('.');
        const value = (one: typeof a) => (at >= 0 ? one.keys[at] : one.functions[fn]?.[field]);
        const sign = nullsLast(value(a), value(b));
        if (sign !== 0) return isDown ? -sign : sign;
      }
      return 0;
    });
    const paged = groupBy.length > 0 ? slicePage(groupRows, request.offset ?? 0, request.limit) : groupRows;
    return paged.map(({ keys, functions }) => ({
      ...Object.fromEntries(groupBy.map((name, at) => [outputName(name), renderValue(undefined, keys[at])])),
      ...Object.fromEntries(
        Object.entries(functions).map(([fn, results]) => {
          const names = Object.keys(results);
          if (fn === 'count' && names.length === 1 && names[0] === '*') return [fn, results['*']];
          return [fn, Object.fromEntries(names.map((name) => [name, renderValue(undefined, results[name])]))];
        }),
      ),
    }));
  }

  /** One row of the answer, without unreadable fields and relations to unreadable collections. */
  renderRow(
    collection: string,
    fields: FieldTree,
    row: PermissionTestRow,
    deep: ListParameters['deep'] = {},
  ): Record<string, unknown> {
    const { plain, manyToOne, toMany } = this.model[collection] as PermissionTestModel[string];
    const fieldEntries = Object.entries(fields).flatMap(([name, more]): (readonly [string, true | FieldTree])[] =>
      name === '*' ? this.all(collection).map((one) => [one, true] as const) : [[name, more]],
    );
    const out: Record<string, unknown> = {};
    for (const [name, more] of fieldEntries) {
      const { fn, field } = parseOptionalFunctionCall(parseManyToAnyName(name)?.field ?? name);
      const to = toMany[field]?.to ?? manyToOne[field];
      if (!this.isReadable(collection, field) || (out[outputName(name)] !== undefined && more === true)) continue;
      if (to && (toMany[field] || more !== true) && this.of(to, 'read').length === 0) continue;
      const terms = deep[name] ?? {};
      const isKeys = toMany[field] && !fn && more === true && !terms.aggregate && !terms.groupBy;
      // A to-many alias without nested fields shows composite keys, so all key columns must be readable.
      if (
        isKeys &&
        hasCompositeKey(this.model[to as string] as PermissionTestModel[string]) &&
        !this.hasReadableKey(to as string)
      )
        continue;
      if (!this.isReadableOn(collection, field, row)) out[outputName(name)] = null;
      else if (fn) out[outputName(name)] = this.value(collection, name, row, true);
      else if (parseManyToAnyName(name)) out[field] = this.renderManyToAny(collection, field, fields, row, deep);
      else if (toMany[field])
        out[name] = this.renderToMany(to as string, this.children(collection, name, row, true), more, terms);
      else if (to && more !== true) {
        const found = this.target(collection, name, row, true);
        const isMeant = found && (!terms.filter || this.matches(to, terms.filter, found, true) === true);
        out[name] = isMeant ? this.renderRow(to, more, found, terms.deep) : null;
      } else out[name] = renderValue(plain[name], row[name]);
    }
    return out;
  }

  private hasReadableKey(collection: string): boolean {
    const { key } = this.model[collection] as PermissionTestModel[string];
    return key.every((column) => this.isReadable(collection, column));
  }

  private renderToMany(
    to: string,
    rows: readonly PermissionTestRow[],
    more: true | FieldTree,
    terms: ListParameters,
  ): unknown[] {
    const kids = this.matching(to, rows, terms);
    if (terms.aggregate || terms.groupBy) return this.groups(to, kids, terms);
    const model = this.model[to] as PermissionTestModel[string];
    return this.page(to, kids, terms).map((kid) =>
      more === true ? renderRowKey(model, kid) : this.renderRow(to, more, kid, terms.deep),
    );
  }

  /** The value of a many-to-any field: the row, its key if no fields of its collection are requested, or null if unreadable. */
  private renderManyToAny(
    collection: string,
    field: string,
    fields: FieldTree,
    row: PermissionTestRow,
    deep: ListParameters['deep'] = {},
  ): unknown {
    const { by } = this.manyToAnyField(collection, field);
    const more = fields[`${field}:${row[by]}`];
    if (more === undefined || more === true) return row[field] ?? null;
    const to = row[by] as string;
    const terms = deep[`${field}:${to}`] ?? {};
    const found = this.of(to, 'read').length > 0 ? this.manyToAnyTarget(collection, field, to, row, true) : undefined;
    const isMeant = found && (!terms.filter || this.matches(to, terms.filter, found, true) === true);
    return isMeant ? this.renderRow(to, more, found, terms.deep) : null;
  }
}

const outputName = (name: string): string => {
  const { fn, field } = parseOptionalFunctionCall(parseManyToAnyName(name)?.field ?? name);
  return fn ? `${field}_${fn}` : field;
};

const steps = (sort: string): readonly string[] => sort.replace('-', '').split('.');

const slicePage = <T>(rows: readonly T[], offset: number, limit: number | undefined): readonly T[] =>
  rows.slice(offset, limit === undefined ? undefined : offset + limit);

/** Null is the largest value, as in PostgreSQL. */
const nullsLast = (a: unknown, b: unknown): number => {
  const [left, right] = [a ?? null, b ?? null];
  if (left === null || right === null) return (left === null ? 1 : 0) - (right === null ? 1 : 0);
  return compareScalarValues(left, right);
};

function aggregateValues(fn: string, values: readonly unknown[]): unknown {
  const distinct = [...new Map(values.map((one) => [one instanceof Date ? one.getTime() : one, one])).values()];
  const all = fn.endsWith('Distinct') ? distinct : values;
  if (fn.startsWith('count')) return all.length;
  if (all.length === 0) return null;
  const sum = () => all.reduce<number>((total, one) => total + (one as number), 0);
  if (fn.startsWith('sum')) return sum();
  if (fn.startsWith('avg')) return sum() / all.length;
  const sorted = [...all].sort(compareScalarValues);
  return fn === 'min' ? sorted[0] : sorted.at(-1);
}

const renderValue = (type: string | undefined, value: unknown): unknown => {
  if (value === null || value === undefined) return null;
  if (type === 'masked') return MASK;
  return value instanceof Date ? value.toISOString() : value;
};

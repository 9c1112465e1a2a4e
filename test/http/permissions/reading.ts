import { Checks } from './checks.ts';
import { called, order, scoped } from './conditions.ts';
import { hasParts, keyText } from './keys.ts';
import { type Asked, type Model, type Nested, Refused, type Row, type Terms } from './shapes.ts';

const MASK = '**********';

/** What reads answer, by plain loops over rows in memory. */
export class Reference extends Checks {
  /** What a list read answers; throws `Refused` where it has to be FORBIDDEN. */
  list(collection: string, asked: Asked): { data: unknown[]; total: number; filtered: number } {
    this.open(collection);
    const { fields, ...rest } = asked;
    const terms = { ...rest, sort: typeof rest.sort === 'string' ? [rest.sort] : rest.sort };
    this.checkTerms(collection, terms);
    if (!asked.aggregate && !asked.groupBy) this.checkBelow(collection, fields, terms);
    const visible = (this.rows[collection] ?? []).filter((row) => this.touches(collection, 'read', row));
    const found = this.matching(collection, visible, terms);
    const data =
      asked.aggregate || asked.groupBy
        ? this.groups(collection, found, terms)
        : this.page(collection, found, asked.keys ?? terms).map((row) =>
            this.shown(collection, fields, row, terms.deep),
          );
    return { data, total: visible.length, filtered: found.length };
  }

  /** One row as a read by key answers it; undefined where it may not be read. */
  single(collection: string, { fields, deep }: Pick<Asked, 'fields' | 'deep'>, row: Row): object | undefined {
    this.open(collection);
    this.checkBelow(collection, fields, deep ? { deep } : {});
    return this.touches(collection, 'read', row) ? this.shown(collection, fields, row, deep) : undefined;
  }

  /** The rows a list read is about, as they are. */
  rowsFound(collection: string, { keys, ...asked }: Omit<Asked, 'fields'>): readonly Row[] {
    this.open(collection);
    const terms = { ...asked, sort: typeof asked.sort === 'string' ? [asked.sort] : asked.sort };
    this.checkTerms(collection, terms);
    const visible = (this.rows[collection] ?? []).filter((row) => this.touches(collection, 'read', row));
    return this.page(collection, this.matching(collection, visible, terms), keys ?? terms);
  }

  private matching(collection: string, rows: readonly Row[], { filter, search }: Terms): readonly Row[] {
    return rows.filter(
      (row) =>
        (!filter || this.holds(collection, filter, row, true) === true) &&
        (search === undefined || this.searched(collection, row, search)),
    );
  }

  private page(collection: string, rows: readonly Row[], by: Terms | readonly unknown[]): readonly Row[] {
    const model = this.model[collection] as Model[string];
    if (Array.isArray(by)) return by.flatMap((one) => rows.filter((row) => keyText(model, row) === one));
    const { sort = [], limit, offset = 0 } = by as Terms;
    return cut(this.sorted(collection, rows, sort), offset, limit);
  }

  /** Fields that conditions, orders and groups speak of have to be readable. */
  private checkTerms(collection: string, { filter, sort = [], aggregate, groupBy }: Terms): void {
    if (filter) this.checkFilter(collection, filter);
    if (!aggregate && !groupBy) for (const one of sort) this.checkSort(collection, one);
    const fields = [...Object.values(aggregate ?? {}).flat(), ...(groupBy ?? [])];
    for (const name of fields) {
      if (name === '*') continue;
      this.checkUse(collection, name);
      if (this.model[collection]?.plain[name] === 'masked') throw new Refused();
    }
  }

  /** The same for the relations that are followed; terms of others mean nothing. */
  private checkBelow(collection: string, fields: Nested, { deep = {} }: Terms): void {
    const { ones, manys } = this.model[collection] as Model[string];
    for (const [name, more] of Object.entries(fields)) {
      const any = scoped(name);
      if (!this.readable(collection, any?.field ?? name)) continue;
      const to = any?.to ?? manys[name]?.to ?? ones[name];
      if (!to || (more === true && !manys[name])) continue;
      this.checkTerms(to, deep[name] ?? {});
      if (more !== true) this.checkBelow(to, more, deep[name] ?? {});
    }
  }

  private checkSort(collection: string, sort: string): void {
    let at = collection;
    const path = steps(sort);
    for (const [depth, name] of path.entries()) {
      if (depth === path.length - 1) {
        this.checkUse(at, name);
        if (this.model[at]?.plain[name] === 'masked') throw new Refused();
        return;
      }
      this.need(at, name);
      at = this.model[at]?.ones[name] ?? (this.model[at]?.manys[name]?.to as string);
      this.open(at);
    }
  }

  protected sorted(collection: string, rows: readonly Row[], sort: readonly string[]): readonly Row[] {
    const { key } = this.model[collection] as Model[string];
    const all = sort.map((one) => ({ path: steps(one), isDown: one.startsWith('-') }));
    return [...rows].sort((a, b) => {
      for (const { path, isDown } of all) {
        const value = (row: Row) => this.sortedBy(collection, path, row, isDown);
        const sign = nullsLast(value(a), value(b));
        if (sign !== 0) return isDown ? -sign : sign;
      }
      return key.map((column) => order(a[column], b[column])).find((sign) => sign !== 0) ?? 0;
    });
  }

  /** Behind an alias it is the first of its rows in that order. */
  private sortedBy(collection: string, [name = '', ...rest]: readonly string[], row: Row, isDown: boolean): unknown {
    if (rest.length === 0) return this.value(collection, name, row, true);
    const { ones, manys } = this.model[collection] as Model[string];
    if (manys[name]) {
      const { to } = manys[name];
      const values = this.children(collection, name, row, true).map((kid) => this.sortedBy(to, rest, kid, isDown));
      return values.sort((a, b) => (isDown ? -nullsLast(a, b) : nullsLast(a, b)))[0] ?? null;
    }
    const target = this.target(collection, name, row, true);
    return target
      ? this.sortedBy(ones[name] as string, rest, target, isDown)
      : this.ofMissing(ones[name] as string, rest);
  }

  /** A row that is not there is a row of nulls in an order, behind which there are no rows to count. */
  private ofMissing(collection: string, path: readonly string[]): unknown {
    const [name = '', ...rest] = path;
    const { ones, manys } = this.model[collection] as Model[string];
    if (rest.length > 0) return ones[name] && !manys[name] ? this.ofMissing(ones[name], rest) : null;
    const { fn, field } = called(name);
    if (fn !== 'count') return null;
    const listing = this.of(collection, 'read').filter((one) => this.lists(one, collection, field));
    const isAlways = listing.length === this.of(collection, 'read').length;
    return isAlways || listing.some((one) => this.admits(collection, one, {})) ? 0 : null;
  }

  private searched(collection: string, row: Row, term: string): boolean {
    const { plain, key, keyType, ones, anys } = this.model[collection] as Model[string];
    return [...key, ...Object.keys({ ...plain, ...ones, ...anys })].some((name) => {
      const value = this.value(collection, name, row, true);
      if (value === null || plain[name] === 'masked' || plain[name] === 'moment') return false;
      if (plain[name] === 'text' || anys?.[name]) return String(value).toLowerCase().includes(term.toLowerCase());
      if (key.includes(name) && keyType === 'uuid') return String(value) === term.toLowerCase();
      return String(value) === term;
    });
  }

  /** Groups in place of rows: a field that may not be read on a row is null there, before anything is added up. */
  private groups(collection: string, rows: readonly Row[], asked: Terms): object[] {
    const { aggregate = {}, groupBy = [], sort = [] } = asked;
    const groups = new Map<string, { keys: unknown[]; rows: Row[] }>();
    if (groupBy.length === 0) groups.set('[]', { keys: [], rows: [] });
    for (const row of rows) {
      const keys = groupBy.map((name) => this.value(collection, name, row, true));
      const id = JSON.stringify(keys);
      const group = groups.get(id) ?? { keys, rows: [] };
      groups.set(id, { keys, rows: [...group.rows, row] });
    }
    const made = [...groups.values()].map(({ keys, rows: members }) => {
      const functions = Object.entries(aggregate).map(([fn, fields]) => {
        const results = Object.fromEntries(
          fields.map((field) => [
            field,
            field === '*'
              ? members.length
              : aggregated(
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
    made.sort((a, b) => {
      for (const { text, isDown } of terms) {
        const at = groupBy.indexOf(text);
        const [fn = '', field = ''] = text.split('.');
        const value = (one: typeof a) => (at >= 0 ? one.keys[at] : one.functions[fn]?.[field]);
        const sign = nullsLast(value(a), value(b));
        if (sign !== 0) return isDown ? -sign : sign;
      }
      return 0;
    });
    const paged = groupBy.length > 0 ? cut(made, asked.offset ?? 0, asked.limit) : made;
    return paged.map(({ keys, functions }) => ({
      ...Object.fromEntries(groupBy.map((name, at) => [outName(name), shape(undefined, keys[at])])),
      ...Object.fromEntries(
        Object.entries(functions).map(([fn, results]) => {
          const names = Object.keys(results);
          if (fn === 'count' && names.length === 1 && names[0] === '*') return [fn, results['*']];
          return [fn, Object.fromEntries(names.map((name) => [name, shape(undefined, results[name])]))];
        }),
      ),
    }));
  }

  /** One row as the answer has it. Unreadable fields and ways into closed collections are left out. */
  shown(collection: string, fields: Nested, row: Row, deep: Terms['deep'] = {}): Record<string, unknown> {
    const { plain, ones, manys } = this.model[collection] as Model[string];
    const wanted = Object.entries(fields).flatMap(([name, more]): (readonly [string, true | Nested])[] =>
      name === '*' ? this.all(collection).map((one) => [one, true] as const) : [[name, more]],
    );
    const out: Record<string, unknown> = {};
    for (const [name, more] of wanted) {
      const { fn, field } = called(scoped(name)?.field ?? name);
      const to = manys[field]?.to ?? ones[field];
      if (!this.readable(collection, field) || (out[outName(name)] !== undefined && more === true)) continue;
      if (to && (manys[field] || more !== true) && this.of(to, 'read').length === 0) continue;
      const terms = deep[name] ?? {};
      const isKeys = manys[field] && !fn && more === true && !terms.aggregate && !terms.groupBy;
      // Keys of several columns are made of what they hold, so all of that has to be readable.
      if (isKeys && hasParts(this.model[to as string] as Model[string]) && !this.tellsKeys(to as string)) continue;
      if (!this.shows(collection, field, row)) out[outName(name)] = null;
      else if (fn) out[outName(name)] = this.value(collection, name, row, true);
      else if (scoped(name)) out[field] = this.shownAny(collection, field, fields, row, deep);
      else if (manys[field])
        out[name] = this.shownMany(to as string, this.children(collection, name, row, true), more, terms);
      else if (to && more !== true) {
        const found = this.target(collection, name, row, true);
        const isMeant = found && (!terms.filter || this.holds(to, terms.filter, found, true) === true);
        out[name] = isMeant ? this.shown(to, more, found, terms.deep) : null;
      } else out[name] = shape(plain[name], row[name]);
    }
    return out;
  }

  private tellsKeys(collection: string): boolean {
    const { key } = this.model[collection] as Model[string];
    return key.every((column) => this.readable(collection, column));
  }

  private shownMany(to: string, rows: readonly Row[], more: true | Nested, terms: Terms): unknown[] {
    const kids = this.matching(to, rows, terms);
    if (terms.aggregate || terms.groupBy) return this.groups(to, kids, terms);
    const model = this.model[to] as Model[string];
    return this.page(to, kids, terms).map((kid) =>
      more === true ? keyText(model, kid) : this.shown(to, more, kid, terms.deep),
    );
  }

  /** A row of a collection that was not asked about shows its bare key; one that may not be read is null. */
  private shownAny(collection: string, field: string, fields: Nested, row: Row, deep: Terms['deep'] = {}): unknown {
    const { by } = this.anyOf(collection, field);
    const more = fields[`${field}:${row[by]}`];
    if (more === undefined || more === true) return row[field] ?? null;
    const to = row[by] as string;
    const terms = deep[`${field}:${to}`] ?? {};
    const found = this.of(to, 'read').length > 0 ? this.anyTarget(collection, field, to, row, true) : undefined;
    const isMeant = found && (!terms.filter || this.holds(to, terms.filter, found, true) === true);
    return isMeant ? this.shown(to, more, found, terms.deep) : null;
  }
}

const outName = (name: string): string => {
  const { fn, field } = called(scoped(name)?.field ?? name);
  return fn ? `${field}_${fn}` : field;
};

const steps = (sort: string): readonly string[] => sort.replace('-', '').split('.');

const cut = <T>(rows: readonly T[], offset: number, limit: number | undefined): readonly T[] =>
  rows.slice(offset, limit === undefined ? undefined : offset + limit);

/** Null is the largest, as in PostgreSQL. */
const nullsLast = (a: unknown, b: unknown): number => {
  const [left, right] = [a ?? null, b ?? null];
  if (left === null || right === null) return (left === null ? 1 : 0) - (right === null ? 1 : 0);
  return order(left, right);
};

function aggregated(fn: string, values: readonly unknown[]): unknown {
  const distinct = [...new Map(values.map((one) => [one instanceof Date ? one.getTime() : one, one])).values()];
  const all = fn.endsWith('Distinct') ? distinct : values;
  if (fn.startsWith('count')) return all.length;
  if (all.length === 0) return null;
  const sum = () => all.reduce<number>((total, one) => total + (one as number), 0);
  if (fn.startsWith('sum')) return sum();
  if (fn.startsWith('avg')) return sum() / all.length;
  const sorted = [...all].sort(order);
  return fn === 'min' ? sorted[0] : sorted.at(-1);
}

const shape = (type: string | undefined, value: unknown): unknown => {
  if (value === null || value === undefined) return null;
  if (type === 'masked') return MASK;
  return value instanceof Date ? value.toISOString() : value;
};

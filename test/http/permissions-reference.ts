/**
 * What a role may see, worked out over rows in memory: plain loops, nothing shared with the engine. A comparison in which
 * a dynamic value is nobody's is neither true nor false; `undefined` stands for that.
 */

export type Row = Readonly<Record<string, unknown>>;
export type Filter = Readonly<Record<string, unknown>>;

export interface Model {
  /** Of each collection its key, plain fields by type, many-to-one fields and to-many aliases. */
  readonly [collection: string]: {
    readonly key: string;
    readonly plain: Readonly<Record<string, 'text' | 'number' | 'uuid' | 'moment' | 'masked'>>;
    readonly ones: Readonly<Record<string, string>>;
    readonly manys: Readonly<Record<string, { readonly to: string; readonly by: string }>>;
    /** Never part of `*` in a permission's list. */
    readonly sensitive?: readonly string[];
  };
}

export interface Allowed {
  readonly rule: Filter | null;
  readonly fields: readonly string[];
}

export interface Eyes {
  readonly admin: boolean;
  readonly user: string | null;
  readonly role: string | null;
  /** Values of paths such as `$CURRENT_USER.title`. */
  readonly paths: Readonly<Record<string, unknown>>;
  /** By `collection action`. */
  readonly permissions: ReadonlyMap<string, readonly Allowed[]>;
}

export interface Nested {
  readonly [field: string]: true | Nested;
}

export interface Asked {
  readonly fields: Nested;
  readonly filter?: Filter;
  readonly sort?: string;
  readonly search?: string;
  readonly limit?: number;
  readonly offset?: number;
}

export class Refused extends Error {}

const MASK = '**********';
const NEGATED = new Set(['_neq', '_nin', '_ncontains', '_nbetween']);

export class Reference {
  readonly model: Model;
  readonly rows: Readonly<Record<string, readonly Row[]>>;
  readonly eyes: Eyes;
  readonly now = Date.now();

  constructor(model: Model, rows: Readonly<Record<string, readonly Row[]>>, eyes: Eyes) {
    this.model = model;
    this.rows = rows;
    this.eyes = eyes;
  }

  of(collection: string, action: string): readonly Allowed[] {
    if (this.eyes.admin) return [{ rule: null, fields: Object.keys(this.all(collection)) }];
    return this.eyes.permissions.get(`${collection} ${action}`) ?? [];
  }

  all(collection: string): Record<string, true> {
    const { key, plain, ones, manys } = this.model[collection] as Model[string];
    return Object.fromEntries([key, ...Object.keys({ ...plain, ...ones, ...manys })].map((name) => [name, true]));
  }

  lists(one: Allowed, collection: string, field: string): boolean {
    if (one.fields.includes(field)) return true;
    return one.fields.includes('*') && !this.model[collection]?.sensitive?.includes(field);
  }

  /** Is the row among those an action may touch? */
  touches(collection: string, action: string, row: Row): boolean {
    return this.of(collection, action).some(
      (one) => !one.rule || this.holds(collection, one.rule, row, false) === true,
    );
  }

  readable(collection: string, field: string): boolean {
    return this.of(collection, 'read').some((one) => this.lists(one, collection, field));
  }

  shows(collection: string, field: string, row: Row): boolean {
    return this.of(collection, 'read').some(
      (one) =>
        this.lists(one, collection, field) && (!one.rule || this.holds(collection, one.rule, row, false) === true),
    );
  }

  /** A value as the caller may compare it. */
  value(collection: string, field: string, row: Row, asCaller: boolean): unknown {
    return asCaller && !this.shows(collection, field, row) ? null : (row[field] ?? null);
  }

  target(collection: string, field: string, row: Row, asCaller: boolean): Row | undefined {
    const to = this.model[collection]?.ones[field] as string;
    const id = this.value(collection, field, row, asCaller);
    const found = this.rows[to]?.find((one) => id !== null && one[this.model[to]?.key as string] === id);
    return found && (!asCaller || this.touches(to, 'read', found)) ? found : undefined;
  }

  children(collection: string, field: string, row: Row, asCaller: boolean): readonly Row[] {
    const { key, manys } = this.model[collection] as Model[string];
    const { to, by } = manys[field] as { to: string; by: string };
    if (asCaller && !this.shows(collection, field, row)) return [];
    const mine = (this.rows[to] ?? []).filter((one) => row[key] !== undefined && one[by] === row[key]);
    return asCaller ? mine.filter((one) => this.touches(to, 'read', one)) : mine;
  }

  /** Three-valued: undefined where nothing can be said because there is no "me". */
  holds(collection: string, filter: Filter, row: Row, asCaller: boolean): boolean | undefined {
    return every(
      Object.entries(filter).map(([name, rule]) => {
        if (name === '_and') return every((rule as Filter[]).map((one) => this.holds(collection, one, row, asCaller)));
        if (name === '_or') return some((rule as Filter[]).map((one) => this.holds(collection, one, row, asCaller)));
        return this.ruled(collection, name, rule as Filter, row, asCaller);
      }),
    );
  }

  private ruled(collection: string, field: string, rule: Filter, row: Row, asCaller: boolean): boolean | undefined {
    const { ones, manys } = this.model[collection] as Model[string];
    const [operator = ''] = Object.keys(rule);
    if (manys[field]) {
      const { to } = manys[field];
      const kids = this.children(collection, field, row, asCaller);
      if (operator === '_null') return (kids.length === 0) === rule._null;
      const inner = (operator === '_some' || operator === '_none' ? rule[operator] : rule) as Filter;
      const found = kids.some((one) => this.holds(to, inner, one, asCaller) === true);
      if (operator !== '_none') return found;
      return this.speaksOfNobody(inner) ? undefined : !found;
    }
    if (ones[field] && leads(operator)) {
      // A row that is not there, or not for these eyes, is a row of nulls.
      const found = this.target(collection, field, row, asCaller);
      return this.holds(ones[field], rule, found ?? {}, asCaller && found !== undefined);
    }
    return this.compared(operator, this.value(collection, field, row, asCaller), rule[operator]);
  }

  private compared(operator: string, value: unknown, operand: unknown): boolean | undefined {
    if (operator === '_null') return (value === null) === operand;
    if (operator === '_empty') return (value === null || value === '') === operand;
    const list = (Array.isArray(operand) ? operand : [operand]).map((one) => this.dynamic(one));
    if (NEGATED.has(operator) ? list.includes(null) : list.every((one) => one === null)) return undefined;
    if (value === null) return false;
    const [first, second] = list;
    switch (operator) {
      case '_eq':
        return same(value, first);
      case '_neq':
        return !same(value, first);
      case '_in':
        return list.some((one) => same(value, one));
      case '_nin':
        return !list.some((one) => same(value, one));
      case '_gt':
        return order(value, first) > 0;
      case '_lt':
        return order(value, first) < 0;
      case '_between':
        return second !== null && order(value, first) >= 0 && order(value, second) <= 0;
      case '_nbetween':
        return order(value, first) < 0 || order(value, second) > 0;
      case '_contains':
        return String(value).includes(String(first));
      case '_ncontains':
        return !String(value).includes(String(first));
      case '_starts_with':
        return String(value).startsWith(String(first));
    }
    throw new Error(`the reference knows no ${operator}`);
  }

  private dynamic(value: unknown): unknown {
    if (typeof value !== 'string' || !value.startsWith('$')) return value;
    if (value === '$CURRENT_USER') return this.eyes.user;
    if (value === '$CURRENT_ROLE') return this.eyes.role;
    if (value === '$NOW') return new Date(this.now);
    return this.eyes.paths[value] ?? null;
  }

  private speaksOfNobody(filter: unknown): boolean {
    if (typeof filter === 'string') return this.dynamic(filter) === null;
    return (
      typeof filter === 'object' && filter !== null && Object.values(filter).some((one) => this.speaksOfNobody(one))
    );
  }

  /** Throws where the filter uses anything the caller may not read, whether or not it would matter. */
  checkFilter(collection: string, filter: Filter): void {
    for (const [name, rule] of Object.entries(filter)) {
      if (name === '_and' || name === '_or') for (const one of rule as Filter[]) this.checkFilter(collection, one);
      else this.checkRule(collection, name, rule as Filter);
    }
  }

  private checkRule(collection: string, field: string, rule: Filter): void {
    const { ones, manys } = this.model[collection] as Model[string];
    this.need(collection, field);
    const [operator = ''] = Object.keys(rule);
    const to = manys[field]?.to ?? ones[field];
    if (!to || !(leads(operator) || manys[field])) return;
    if (this.of(to, 'read').length === 0) throw new Refused();
    if (operator === '_some' || operator === '_none') this.checkFilter(to, rule[operator] as Filter);
    else if (leads(operator)) this.checkFilter(to, rule);
  }

  private need(collection: string, field: string): void {
    if (!this.readable(collection, field)) throw new Refused();
  }

  /** The rows a list read answers; throws `Refused` where it has to be FORBIDDEN. */
  list(collection: string, asked: Asked): { data: unknown[]; total: number; filtered: number } {
    if (this.of(collection, 'read').length === 0) throw new Refused();
    if (asked.filter) this.checkFilter(collection, asked.filter);
    const visible = (this.rows[collection] ?? []).filter((row) => this.touches(collection, 'read', row));
    const found = visible.filter(
      (row) =>
        (!asked.filter || this.holds(collection, asked.filter, row, true) === true) &&
        (asked.search === undefined || this.found(collection, row, asked.search)),
    );
    const sorted =
      asked.sort === undefined ? this.byKey(collection, found) : this.sorted(collection, found, asked.sort);
    const from = asked.offset ?? 0;
    const page = sorted.slice(from, asked.limit === undefined ? undefined : from + asked.limit);
    return {
      data: page.map((row) => this.shown(collection, asked.fields, row)),
      total: visible.length,
      filtered: found.length,
    };
  }

  byKey(collection: string, rows: readonly Row[]): readonly Row[] {
    const { key } = this.model[collection] as Model[string];
    return [...rows].sort((a, b) => order(a[key], b[key]));
  }

  private sorted(collection: string, rows: readonly Row[], sort: string): readonly Row[] {
    const descending = sort.startsWith('-');
    const path = sort.replace('-', '').split('.');
    let at = collection;
    for (const [depth, name] of path.entries()) {
      this.need(at, name);
      if (depth === path.length - 1) break;
      at = this.model[at]?.ones[name] as string;
      if (this.of(at, 'read').length === 0) throw new Refused();
    }
    const sortedBy = (row: Row): unknown => {
      let [here, current]: [string, Row | undefined] = [collection, row];
      for (const name of path.slice(0, -1)) {
        current = current && this.target(here, name, current, true);
        here = this.model[here]?.ones[name] as string;
      }
      return current ? this.value(here, path.at(-1) as string, current, true) : null;
    };
    return [...this.byKey(collection, rows)].sort((a, b) => {
      const [left, right] = [sortedBy(a), sortedBy(b)];
      // Null is the largest, as in PostgreSQL.
      const sign = left === null ? (right === null ? 0 : 1) : right === null ? -1 : order(left, right);
      return descending ? -sign : sign;
    });
  }

  private found(collection: string, row: Row, term: string): boolean {
    const { plain, key } = this.model[collection] as Model[string];
    return [key, ...Object.keys(plain), ...Object.keys(this.model[collection]?.ones ?? {})].some((name) => {
      const value = this.value(collection, name, row, true);
      if (value === null || plain[name] === 'masked' || plain[name] === 'moment') return false;
      if (plain[name] === 'text') return String(value).toLowerCase().includes(term.toLowerCase());
      return String(value) === term;
    });
  }

  /** One row as the answer has it. Unreadable fields and ways into closed collections are left out. */
  shown(collection: string, fields: Nested, row: Row): Record<string, unknown> {
    const { key, plain, ones, manys } = this.model[collection] as Model[string];
    const wanted = Object.entries(fields).flatMap(([name, more]): [string, true | Nested][] =>
      name === '*' ? Object.keys(this.all(collection)).map((one) => [one, true]) : [[name, more]],
    );
    const out: Record<string, unknown> = {};
    for (const [name, more] of wanted) {
      if (!this.readable(collection, name) || (out[name] !== undefined && more === true)) continue;
      const visible = this.shows(collection, name, row);
      const to = manys[name]?.to ?? ones[name];
      if (to && (manys[name] || more !== true) && this.of(to, 'read').length === 0) continue;
      if (manys[name]) {
        const kids = this.byKey(to as string, this.children(collection, name, row, true));
        const toKey = this.model[to as string]?.key as string;
        out[name] = !visible
          ? null
          : kids.map((kid) => (more === true ? kid[toKey] : this.shown(to as string, more, kid)));
      } else if (to && more !== true) {
        const found = this.target(collection, name, row, true);
        out[name] = found ? this.shown(to, more, found) : null;
      } else {
        const value = name === key || ones[name] ? row[name] : shape(plain[name], row[name]);
        out[name] = visible ? (value ?? null) : null;
      }
    }
    return out;
  }
}

/** Does what stands behind a relation speak of the rows there? */
const leads = (operator: string): boolean => !operator.startsWith('_') || operator === '_and' || operator === '_or';

const shape = (type: string | undefined, value: unknown): unknown => {
  if (value === null || value === undefined) return null;
  if (type === 'masked') return MASK;
  return value instanceof Date ? value.toISOString() : value;
};

const same = (a: unknown, b: unknown): boolean => b !== null && order(a, b) === 0;
const order = (a: unknown, b: unknown): number => {
  const [left, right] = [a, b].map((one) => (one instanceof Date ? one.getTime() : one)) as [never, never];
  return left < right ? -1 : left > right ? 1 : 0;
};

const every = (parts: readonly (boolean | undefined)[]) =>
  parts.includes(false) ? false : parts.includes(undefined) ? undefined : true;
const some = (parts: readonly (boolean | undefined)[]) =>
  parts.includes(true) ? true : parts.includes(undefined) ? undefined : false;

import { type Entry, Inexpressible } from '../../plugins/graphql/cases/entries.ts';
import { called, followed, leads, scoped } from './conditions.ts';
import type { Sight } from './graphql-sight.ts';
import { hasParts, keyColumn } from './keys.ts';
import { tableOf } from './model.ts';
import type { Asked, Filter, Model, Nested, Terms } from './shapes.ts';

export const FOLLOW = 'a relation without a field, followed backwards';

interface Shown {
  /** The same for the reference evaluator. */
  readonly nested: Nested;
  readonly deep: NonNullable<Terms['deep']>;
  readonly entries: readonly Entry[];
}

/**
 * Brings questions into a form that GraphQL has words for and the reference evaluator understands as well: bare keys of
 * relations become objects with a key, operators on relations such on the key behind them. What cannot be read is left
 * out, or asked for all the same where `bold`.
 */
export class Questions {
  /** Something is named that this person's schema does not have. */
  hidden = false;
  readonly sight: Sight;
  private readonly bold: boolean;

  constructor(sight: Sight, bold: boolean) {
    this.sight = sight;
    this.bold = bold;
  }

  shown(collection: string, fields: Nested, deep: NonNullable<Terms['deep']> = {}): Shown {
    const { ones, manys, anys = {} } = this.of(collection);
    const nested: Record<string, true | Nested> = {};
    const below: Record<string, Terms> = {};
    const entries: Entry[] = [];
    const names = '*' in fields ? this.sight.all(collection) : Object.keys(fields);
    const take = (field: string, to: string, more: true | Nested, terms?: Terms) => {
      const inner = this.shown(to, more === true ? this.keyNested(to) : more, deep[field]?.deep);
      nested[field] = inner.nested;
      below[field] = { ...terms, deep: inner.deep };
      const args = terms ? this.argumentsOf(terms) : {};
      entries.push({ kind: 'rows', key: field, field, from: [field], args, of: inner.entries });
    };
    for (const name of names) {
      const more = fields[name] ?? true;
      const { fn, field } = called(scoped(name)?.field ?? name);
      const to = manys[field]?.to ?? ones[field];
      const isShown = this.sight.readable(collection, field) && (!manys[field] || this.sight.opens(to as string));
      if (!isShown) {
        if (this.bold) entries.push(this.unshown(collection, field, fn));
      } else if (fn) {
        nested[name] = true;
        addFunction(entries, field, fn);
      } else if (anys[field]) {
        const any = this.any(collection, field, fields, deep);
        if (any && !entries.some(({ key }) => key === field)) {
          Object.assign(nested, any.nested);
          Object.assign(below, any.deep);
          entries.push(any.entry);
        }
      } else if (manys[field]) take(field, to as string, more, this.terms(to as string, deep[field] ?? {}));
      else if (to && this.sight.opens(to)) take(field, to, more);
      else if (!to || more === true) {
        nested[field] = true;
        entries.push(this.column(collection, field));
      }
    }
    const typename: Entry = { kind: 'typename', key: '__typename', type: tableOf(collection) };
    return { nested, deep: below, entries: entries.length > 0 ? entries : [typename] };
  }

  /** The conditions of a list; groups of related rows are left out, since there are none. */
  terms(collection: string, { filter, sort, search, limit, offset, aggregate, groupBy }: Terms): Terms {
    const isGroups = aggregate !== undefined || groupBy !== undefined;
    return {
      ...(filter ? { filter: this.filter(collection, filter) } : {}),
      ...(sort && !isGroups ? { sort } : {}),
      ...(search === undefined ? {} : { search }),
      ...(limit === undefined || isGroups ? {} : { limit }),
      ...(offset === undefined || isGroups ? {} : { offset }),
    };
  }

  argumentsOf({ filter, sort, search, limit, offset }: Omit<Asked, 'fields'>): Record<string, unknown> {
    return { ...(filter ? { filter: inputOf(filter) } : {}), sort, search, limit, offset };
  }

  filter(collection: string, filter: Filter): Filter {
    return Object.fromEntries(
      Object.entries(filter).map(([name, rule]) =>
        name === '_and' || name === '_or'
          ? [name, (rule as Filter[]).map((one) => this.filter(collection, one))]
          : this.rule(collection, name, rule as Filter),
      ),
    );
  }

  private rule(collection: string, name: string, rule: Filter): [string, Filter] {
    const { ones, manys } = this.of(collection);
    if (followed(name)) throw new Inexpressible(FOLLOW);
    const any = scoped(name);
    const { fn, field } = called(any?.field ?? name);
    const to = any?.to ?? manys[field]?.to ?? ones[field];
    const isOpen = to !== undefined && this.sight.opens(to);
    if (!this.sight.readable(collection, field) || ((any || manys[field]) && !isOpen)) this.hidden = true;
    if (any) return [name, this.filter(any.to, rule)];
    if (fn || !to) return [name, rule];
    if (manys[field]) return [name, this.behind(to, rule)];
    if (Object.keys(rule).some(leads)) {
      if (!isOpen) this.hidden = true;
      return [name, this.filter(to, rule)];
    }
    if (!isOpen) return [name, rule];
    const key = keyColumn(this.of(to));
    if (!this.sight.readable(to, key)) this.hidden = true;
    return [name, { [key]: rule }];
  }

  private behind(to: string, rule: Filter): Filter {
    return Object.fromEntries(
      Object.entries(rule).flatMap(([word, inner]): [string, unknown][] => {
        if (word === '_null') return [[inner ? '_none' : '_some', {}]];
        if (word === '_some' || word === '_none') return [[word, this.filter(to, inner as Filter)]];
        return Object.entries(this.filter(to, { [word]: inner }));
      }),
    );
  }

  private column(collection: string, field: string): Entry {
    const isKey = !hasParts(this.of(collection)) && this.of(collection).key.includes(field);
    return { kind: 'column', key: field, field, from: [field], ...(isKey ? { as: 'text' } : {}) };
  }

  /** Rows of collections that nothing is asked of are empty objects; those that cannot be read are null. */
  private any(collection: string, field: string, fields: Nested, deep: NonNullable<Terms['deep']>) {
    const { to = [] } = this.of(collection).anys?.[field] ?? {};
    const open = to.filter((name) => this.sight.opens(name));
    if (open.length === 0) {
      const isBare = fields[field] !== undefined || '*' in fields;
      return isBare
        ? { nested: { [field]: true as const }, deep: {}, entry: this.column(collection, field) }
        : undefined;
    }
    const of = new Map<string, readonly Entry[]>();
    const nested: Record<string, Nested> = {};
    const below: Record<string, Terms> = {};
    for (const name of open) {
      const asked = fields[`${field}:${name}`] ?? (fields[field] || '*' in fields ? this.keyNested(name) : {});
      const inner = this.shown(name, asked === true ? {} : (asked as Nested), deep[`${field}:${name}`]?.deep);
      const isAsked = inner.entries.every(({ kind }) => kind !== 'typename');
      nested[`${field}:${name}`] = isAsked ? inner.nested : {};
      below[`${field}:${name}`] = { deep: inner.deep };
      if (isAsked) of.set(tableOf(name), inner.entries);
    }
    if (of.size === 0) return undefined;
    return {
      nested,
      deep: below,
      entry: { kind: 'any', key: field, field, from: [field], of, unasked: new Set<string>() } as const,
    };
  }

  private keyNested(collection: string): Nested {
    return Object.fromEntries(this.of(collection).key.map((column) => [column, true as const]));
  }

  private unshown(collection: string, field: string, fn: string | undefined): Entry {
    this.hidden = true;
    const { ones, manys, anys = {} } = this.of(collection);
    const isRow = !fn && (ones[field] !== undefined || manys[field] !== undefined || anys[field] !== undefined);
    const typename: Entry = { kind: 'typename', key: '__typename', type: '' };
    if (fn) return { kind: 'functions', key: `${field}_func`, field: `${field}_func`, of: [functionOf(field, fn)] };
    return isRow
      ? { kind: 'rows', key: field, field, from: [field], of: [typename] }
      : { kind: 'column', key: field, field, from: [field] };
  }

  private of(collection: string): Model[string] {
    return this.sight.model[collection] as Model[string];
  }
}

const functionOf = (field: string, fn: string): Entry => ({
  kind: 'column',
  key: fn,
  field: fn,
  from: [`${field}_${fn}`],
});

function addFunction(entries: Entry[], field: string, fn: string): void {
  const key = `${field}_func`;
  const at = entries.findIndex((entry) => entry.key === key);
  const before = entries[at];
  if (before?.kind === 'functions') entries[at] = { ...before, of: [...before.of, functionOf(field, fn)] };
  else entries.push({ kind: 'functions', key, field: key, of: [functionOf(field, fn)] });
}

/** `year(born)` is `born_func: { year }`, `item:tag` is `item__tag`; all else is called the same. */
export function inputOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inputOf);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, rule]) => {
      const { fn, field } = called(name);
      return fn ? [`${field}_func`, { [fn]: inputOf(rule) }] : [name.replace(':', '__'), inputOf(rule)];
    }),
  );
}

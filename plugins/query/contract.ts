import { Failure, fail, service } from '#kernel';
import type { Collection, Field, Overview } from '../schema/contract.ts';
import type { Moment } from './moment.ts';

export { type Moment, momentAt, parseMoment } from './moment.ts';
export { isUuid } from './uuid.ts';

/** A query as it arrives: from a query string, a `SEARCH` body, a GraphQL selection or a service call. */
export interface RawQuery {
  readonly fields?: unknown;
  readonly filter?: unknown;
  readonly sort?: unknown;
  readonly limit?: unknown;
  readonly offset?: unknown;
  readonly page?: unknown;
  readonly search?: unknown;
  readonly meta?: unknown;
  readonly deep?: unknown;
  readonly alias?: unknown;
  readonly aggregate?: unknown;
  readonly groupBy?: unknown;
  readonly [other: string]: unknown;
}

// biome-ignore format: a table by kind
export const OPERATORS = [
  '_eq', '_neq', '_ieq', '_nieq', '_lt', '_lte', '_gt', '_gte', '_in', '_nin', '_between', '_nbetween', '_null', '_nnull',
  '_empty', '_nempty', '_contains', '_ncontains', '_icontains', '_nicontains', '_starts_with', '_nstarts_with',
  '_istarts_with', '_nistarts_with', '_ends_with', '_nends_with', '_iends_with', '_niends_with', '_intersects',
  '_nintersects', '_intersects_bbox', '_nintersects_bbox',
] as const;
export type Operator = (typeof OPERATORS)[number];

/** A value known only when the statement runs, so that a compiled statement serves many callers and moments. */
export type Dynamic =
  /** `via`: the system collection and the fields from the user's or role's row to the value. */
  | {
      readonly dynamic: 'user' | 'role';
      readonly via?: { readonly start: Collection; readonly path: readonly Field[] };
    }
  | ({ readonly dynamic: 'now' } & Moment)
  /** The key of the one row asked for: lets one compiled statement read any of a collection's rows. */
  | { readonly dynamic: 'key' };

export type Value = string | number | boolean | null | Dynamic;

/** A field in a condition or an order. `when`: readable on some rows only, and null to the caller on the others. */
export interface FieldUse {
  readonly field: Field;
  readonly when?: Where;
}

export type Where =
  | { readonly kind: 'all'; readonly of: readonly Where[] }
  | { readonly kind: 'either'; readonly of: readonly Where[] }
  | { readonly kind: 'test'; readonly use: FieldUse; readonly operator: Operator; readonly values: readonly Value[] }
  /** Through a many-to-one: the one row it leads to; a missing row counts as a row of nulls. */
  | {
      readonly kind: 'one';
      readonly use: FieldUse;
      readonly to: Collection;
      readonly where: Where;
      /** The target's row rule, once restricted. */
      readonly rule?: Where;
    }
  /** Through a to-many alias: some (or none) of the rows. */
  | {
      readonly kind: 'many';
      readonly use: FieldUse;
      readonly to: Collection;
      readonly quantifier: 'some' | 'none';
      readonly where: Where;
      readonly rule?: Where;
    }
  | { readonly kind: 'fixed'; readonly value: boolean };

export interface Order {
  /** Relations on the way to the sorted column, each with its target's row rule once restricted. */
  readonly path: readonly { readonly use: FieldUse; readonly to: Collection; readonly rule?: Where }[];
  readonly use: FieldUse;
  readonly descending: boolean;
  /** Not asked for: default order and tie breaker, which need no permission. */
  readonly implied?: true;
}

export type Pick =
  | { readonly kind: 'column'; readonly key: string; readonly field: Field; readonly when?: Where }
  | { readonly kind: 'one'; readonly key: string; readonly field: Field; readonly read: Read; readonly when?: Where }
  | { readonly kind: 'many'; readonly key: string; readonly field: Field; readonly read: Read; readonly when?: Where }
  /** A to-many alias asked for by itself: the list of related keys. */
  | { readonly kind: 'keys'; readonly key: string; readonly field: Field; readonly read: Read; readonly when?: Where };

/** One node of a query tree. `limit: null` means all rows. */
export interface Read {
  readonly collection: Collection;
  readonly where: Where;
  readonly search: string | null;
  /** Fields the search term is compared with; filled by `parse`, narrowed by `restrict`. */
  readonly searched: readonly FieldUse[];
  /** Exactly these rows, in this order. */
  readonly keys?: readonly (string | number)[];
  readonly order: readonly Order[];
  readonly limit: number | null;
  readonly offset: number;
  readonly pick: readonly Pick[];
  readonly meta: readonly ('total_count' | 'filter_count')[];
  /** A single object instead of a list: singletons and reads by key. */
  readonly single: boolean;
  /** The row rule alone, for `total_count`. Set by `restrict`. */
  readonly rule?: Where;
}

declare const restricted: unique symbol;
/** A tree into which the caller's permissions were written. The runner takes nothing else. */
export type Restricted<T> = T & { readonly [restricted]: true };

export interface Parse {
  readonly overview: Overview;
  /** Lists inside by-query writes, reads by key and reads by code have no default limit and no ceiling. */
  readonly unlimited?: boolean;
  /** A single object instead of a list. */
  readonly single?: boolean;
  readonly keys?: readonly (string | number)[];
  /** Without it every field is. */
  readonly visible?: Visible;
  /** Told of a name in `fields` that is left out because no field has it, where the caller might know it. */
  readonly onUnknown?: () => void;
}

/**
 * May the caller know of this field at all? What may not be known is FORBIDDEN before anything is said about its type, so
 * that no complaint tells what there is.
 */
export type Visible = (collection: Collection, field: string) => boolean;

/** Whom `$CURRENT_USER` and `$CURRENT_ROLE` stand for when a statement runs. */
export interface Subjects {
  readonly user: string | null;
  readonly role: string | null;
  readonly key?: string | number | null;
}

/** JSON made by PostgreSQL. `data` is null where a single row was asked for and there is none. */
export interface ReadText {
  readonly data: string | null;
  readonly meta: string | null;
}

export interface Query {
  /** The default and the largest limit (-1: none). */
  readonly ceilings: { readonly default: number; readonly max: number };
  /** Query → tree. Unknown fields in `fields` are dropped, elsewhere FORBIDDEN; bad grammar is INVALID_QUERY. */
  parse(collection: Collection, raw: RawQuery, options: Parse): Read;
  /** A filter alone. `trusted` ones (permission rules) may follow `$CURRENT_USER.a.b` with system rights. */
  filter(collection: Collection, raw: unknown, overview: Overview, options?: { trusted?: boolean }): Where;
  /** Runs one statement and passes its JSON through. */
  text(read: Restricted<Read>, subjects: Subjects, overview: Overview): Promise<ReadText>;
  /** A compiled statement that may be kept while its key stays the same and run for any subjects. */
  prepare(read: Restricted<Read>, overview: Overview): Prepared;
  /** The same, to be kept prepared on each connection: for a statement that came a second time. */
  keep(prepared: Prepared): Prepared;
  run(prepared: Prepared, subjects: Subjects): Promise<ReadText>;
  /** The same rows, parsed: for hooks and internal callers. */
  rows(read: Restricted<Read>, subjects: Subjects, overview: Overview): Promise<Record<string, unknown>[]>;
  /** A condition over the table alias `t`, for `update … where` and `delete … where`; parameters start at `first`. */
  condition(where: Restricted<Where>, subjects: Subjects, overview: Overview, first: number): Condition;
}

export interface Condition {
  readonly text: string;
  readonly params: readonly unknown[];
}

export interface Prepared {
  readonly text: string;
  /** Set by `keep`. */
  readonly name?: string;
  readonly params: readonly unknown[];
  readonly single: boolean;
  readonly hasMeta: boolean;
}

export const query = service<Query>('query', { version: '1.0.0' });

/** The only maker of `Restricted`; by manifest nobody but `access` uses it, and a test holds that fast. */
export interface Sealing {
  seal<T extends object>(tree: T): Restricted<T>;
}
export const sealing = service<Sealing>('sealing', { version: '1.0.0' });

/** What a concealed value reads as. */
export const MASK = '**********';

const UNKNOWN_FIELD = 'unknown field ';

/** A name that is not in the overview. It looks like one that may not be read, so that nothing can be probed. */
export const unknownField = (name: string, collection: string): Failure =>
  fail('FORBIDDEN', `${UNKNOWN_FIELD}${name} of ${collection}`);

/** May the overview have been too old? */
export const isUnknownField = (error: unknown): boolean =>
  error instanceof Failure && (error.detail?.startsWith(UNKNOWN_FIELD) ?? false);

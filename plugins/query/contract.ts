import { service } from '#kernel';
import type { Collection, Field, Overview } from '../schema/contract.ts';

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

export const OPERATORS = [
  '_eq', '_neq', '_ieq', '_nieq', '_lt', '_lte', '_gt', '_gte', '_in', '_nin', '_between', '_nbetween', '_null', '_nnull',
  '_empty', '_nempty', '_contains', '_ncontains', '_icontains', '_nicontains', '_starts_with', '_nstarts_with',
  '_istarts_with', '_nistarts_with', '_ends_with', '_nends_with', '_iends_with', '_niends_with', '_intersects',
  '_nintersects', '_intersects_bbox', '_nintersects_bbox',
] as const;
export type Operator = (typeof OPERATORS)[number];

/** A value known only when the statement runs, so that a compiled statement serves many callers and moments. */
export type Dynamic =
  | { readonly dynamic: 'user' | 'role'; readonly path?: readonly string[] }
  | { readonly dynamic: 'now'; readonly offset: number; readonly months: number };

export type Value = string | number | boolean | null | Dynamic;

export type Where =
  | { readonly kind: 'all'; readonly of: readonly Where[] }
  | { readonly kind: 'either'; readonly of: readonly Where[] }
  | { readonly kind: 'test'; readonly field: Field; readonly operator: Operator; readonly values: readonly Value[] }
  /** Through a many-to-one: the one row it leads to; a missing row counts as a row of nulls. */
  | { readonly kind: 'one'; readonly field: Field; readonly to: Collection; readonly where: Where }
  /** Through a to-many alias: some (or none) of the rows. */
  | {
      readonly kind: 'many';
      readonly field: Field;
      readonly to: Collection;
      readonly quantifier: 'some' | 'none';
      readonly where: Where;
    }
  | { readonly kind: 'fixed'; readonly value: boolean };

export interface Order {
  /** Many-to-one fields on the way to the sorted column, each with its collection's row rule once restricted. */
  readonly path: readonly { readonly field: Field; readonly to: Collection; readonly where?: Where }[];
  readonly field: Field;
  readonly descending: boolean;
}

export type Pick =
  | { readonly kind: 'column'; readonly key: string; readonly field: Field }
  | { readonly kind: 'one'; readonly key: string; readonly field: Field; readonly read: Read }
  | { readonly kind: 'many'; readonly key: string; readonly field: Field; readonly read: Read }
  /** A to-many alias asked for by itself: the list of related keys. */
  | { readonly kind: 'keys'; readonly key: string; readonly field: Field; readonly read: Read }
  /** Readable on some rows only: null on the others. */
  | { readonly kind: 'when'; readonly test: Where; readonly pick: Pick };

/** One node of a query tree. `limit: null` means all rows. */
export interface Read {
  readonly collection: Collection;
  readonly where: Where;
  readonly search: string | null;
  /** Fields the search term is compared with; filled by `parse`, narrowed by `restrict`. */
  readonly searched: readonly Field[];
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
  /** Lists inside by-query writes and reads by key have no default limit. */
  readonly unlimited?: boolean;
}

/** Whom `$CURRENT_USER` and `$CURRENT_ROLE` stand for when a statement runs. */
export interface Subjects {
  readonly user: string | null;
  readonly role: string | null;
}

/** JSON made by PostgreSQL. `data` is null where a single row was asked for and there is none. */
export interface ReadText {
  readonly data: string | null;
  readonly meta: string | null;
}

export interface Query {
  /** Query → tree. Unknown fields in `fields` are dropped, elsewhere FORBIDDEN; bad grammar is INVALID_QUERY. */
  parse(collection: Collection, raw: RawQuery, options: Parse): Read;
  /** A filter alone: permission rules, by-query writes. */
  filter(collection: Collection, raw: unknown, overview: Overview): Where;
  /** Runs one statement and passes its JSON through. */
  text(read: Restricted<Read>, subjects: Subjects): Promise<ReadText>;
  /** A compiled statement that may be kept while its key stays the same and run for any subjects. */
  prepare(read: Restricted<Read>): Prepared;
  run(prepared: Prepared, subjects: Subjects): Promise<ReadText>;
  /** The same rows, parsed: for hooks and internal callers. */
  rows(read: Restricted<Read>, subjects: Subjects): Promise<Record<string, unknown>[]>;
  /** A condition over the table alias `t`, for `update … where` and `delete … where` in write plans. */
  condition(where: Restricted<Where>, subjects: Subjects, firstParam: number): { text: string; params: unknown[] };
}

export interface Prepared {
  readonly text: string;
  readonly name: string;
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

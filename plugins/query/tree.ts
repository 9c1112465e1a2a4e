import type { Collection, Field } from '../schema/contract.ts';
import type { NowOffset } from './now.ts';
import type { ColumnForm } from './selection.ts';

// What a query is once it is parsed: nodes of rows, what they show, and the conditions on them.

/** Operators of filters, with the names of the API. */
// biome-ignore format: a table by kind
export const OPERATORS = [
  '_eq', '_neq', '_ieq', '_nieq', '_lt', '_lte', '_gt', '_gte', '_in', '_nin', '_between', '_nbetween', '_null', '_nnull',
  '_empty', '_nempty', '_contains', '_ncontains', '_icontains', '_nicontains', '_starts_with', '_nstarts_with',
  '_istarts_with', '_nistarts_with', '_ends_with', '_nends_with', '_iends_with', '_niends_with', '_has_any', '_has_all',
  '_intersects', '_nintersects', '_intersects_bbox', '_nintersects_bbox',
] as const;

/** One of `OPERATORS`. */
export type Operator = (typeof OPERATORS)[number];

/** A value known only when the statement runs, so that a compiled statement serves many callers and moments. */
export type DynamicValue =
  /** `via`: the way from the user's or role's row to the value. */
  | { readonly dynamic: 'user' | 'role'; readonly via?: ValuePath }
  | ({ readonly dynamic: 'now' } & NowOffset)
  /** The key of the one row asked for: lets one compiled statement read any of a collection's rows. */
  | { readonly dynamic: 'key' }
  /** The keys of several. */
  | { readonly dynamic: 'keys' }
  /** `at` is an index in `Read.placeholders`; with `list` it stands for the whole list of values. */
  | { readonly dynamic: 'placeholder'; readonly at: number; readonly list?: true };

/** `$CURRENT_USER.company.name`: the fields from the row of the one who asks to the value. */
export interface ValuePath {
  readonly start: Collection;
  /** The row rule of `start`, where the caller's own query goes this way. */
  readonly rule?: Where;
  readonly path: readonly ValuePathStep[];
  /** A to-many is on the way, so that there may be several values. */
  readonly isMultiValued: boolean;
}

/** One field on the way of a `Via`. */
export interface ValuePathStep {
  readonly use: FieldUse;
  /** What the field leads to, with the row rule that counts there. */
  readonly to?: Collection;
  readonly rule?: Where;
}

/** What a field is compared with. */
export type Value = string | number | boolean | null | DynamicValue;

/** Functions of dates and times: each a whole number. */
export const DATE_PARTS = ['year', 'month', 'week', 'day', 'weekday', 'hour', 'minute', 'second'] as const;

/** One of `DATE_PARTS`. */
export type DatePart = (typeof DATE_PARTS)[number];

/** A function of a field (conventions, "Functions"): whole numbers, but for what lies inside a JSON value. */
export type Fn =
  | { readonly name: DatePart }
  /** Elements of a JSON array; with `to` the rows behind a to-many alias, those under `rule` once restricted. */
  | { readonly name: 'count'; readonly to?: Collection; readonly rule?: Where }
  | { readonly name: 'json'; readonly path: readonly string[] };

/** A field in a condition or an order. `when`: readable on some rows only, and null to the caller on the others. */
export interface FieldUse {
  readonly field: Field;
  readonly fn?: Fn;
  readonly when?: Where;
  /** The field on the far side of a `$FOLLOW`, which is what has to be readable: there is no alias on this one. */
  readonly follow?: Field;
}

/** A condition on a row: `all` joins by and, `either` by or. */
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
      /** Speaks of rows of its own; others on the same alias are about the same row. */
      readonly own?: true;
      readonly where: Where;
      readonly rule?: Where;
    }
  /** Through a many-to-any: the row it leads to, where that is one of `to`. */
  | {
      readonly kind: 'any';
      readonly use: FieldUse;
      /** Names the collection of each row's target. */
      readonly by: Field;
      readonly to: Collection;
      readonly where: Where;
      readonly rule?: Where;
    }
  /** Inside a JSON value: `path` leads to what is compared. */
  | {
      readonly kind: 'inside';
      readonly use: FieldUse;
      readonly path: readonly string[];
      readonly as: 'text' | 'number' | 'boolean';
      readonly operator: Operator;
      readonly values: readonly Value[];
    }
  | { readonly kind: 'fixed'; readonly value: boolean };

/** One relation on the way to a sorted column. */
export interface OrderByStep {
  readonly use: FieldUse;
  /** Of a many-to-any: the field that names the collection. */
  readonly by?: Field;
  readonly to: Collection;
  readonly rule?: Where;
}

/** One column that rows are sorted by. */
export interface OrderBy {
  /** Relations on the way to the sorted column, each with its target's row rule once restricted. */
  readonly path: readonly OrderByStep[];
  readonly use: FieldUse;
  readonly descending: boolean;
  /** Not asked for: default order and tie breaker, which need no permission. */
  readonly implied?: true;
}

/** One member of a row in the answer, under `key`. `when`: shown on some rows only, null on the others. */
export type Pick =
  | {
      readonly kind: 'column';
      readonly key: string;
      readonly field: Field;
      readonly fn?: Fn;
      readonly as?: ColumnForm;
      readonly when?: Where;
    }
  /** The same text in every row. */
  | { readonly kind: 'constant'; readonly key: string; readonly value: string | null }
  /** Several of the same row together: `{ "year": 2024, "month": 5 }`. */
  | { readonly kind: 'object'; readonly key: string; readonly pick: readonly Pick[] }
  | { readonly kind: 'one'; readonly key: string; readonly field: Field; readonly read: Read; readonly when?: Where }
  | { readonly kind: 'many'; readonly key: string; readonly field: Field; readonly read: Read; readonly when?: Where }
  /** A to-many alias asked for by itself: the list of related keys. */
  | { readonly kind: 'keys'; readonly key: string; readonly field: Field; readonly read: Read; readonly when?: Where }
  /** A many-to-any: one read a collection; rows of others show the bare key. */
  | {
      readonly kind: 'any';
      readonly key: string;
      readonly field: Field;
      readonly by: Field;
      readonly reads: readonly Read[];
      /** Rows of collections that nothing was asked of are null instead of their bare key. */
      readonly strict?: true;
      readonly when?: Where;
    };

/** Functions over groups of rows (conventions, "Aggregation"). */
export const AGGREGATES = [
  'count',
  'countAll',
  'countDistinct',
  'sum',
  'sumDistinct',
  'avg',
  'avgDistinct',
  'min',
  'max',
] as const;

/** One of `AGGREGATES`. */
export type AggregateName = (typeof AGGREGATES)[number];

/** Groups in place of rows (conventions, "Aggregation"). */
export interface Aggregation {
  readonly groups: readonly { readonly key: string; readonly use: FieldUse }[];
  /** `use: null` counts rows. */
  readonly functions: readonly { readonly name: AggregateName; readonly key: string; readonly use: FieldUse | null }[];
  /** Places in `groups` or `functions`. */
  readonly order: readonly {
    readonly of: 'groups' | 'functions';
    readonly at: number;
    readonly descending: boolean;
  }[];
  /** What a row of the answer is made of, where it is not the form of REST; numbers are JSON numbers then. */
  readonly projections?: readonly GroupProjection[];
}

/** Places in `groups` and `functions` of an aggregation, by the keys they have in an answer. */
export type GroupProjection =
  | { readonly kind: 'constant'; readonly key: string; readonly value: string | null }
  /** All groups by their own keys, as one object. */
  | { readonly kind: 'groups'; readonly key: string }
  | { readonly kind: 'function'; readonly key: string; readonly at: number }
  | { readonly kind: 'object'; readonly key: string; readonly projections: readonly GroupProjection[] };

/** One node of a query tree. `limit: null` means all rows. */
export interface Read {
  readonly collection: Collection;
  readonly where: Where;
  readonly search: string | null;
  /** Fields the search term is compared with; filled by `parse`, narrowed by `restrict`. */
  readonly searchFields: readonly FieldUse[];
  /** Exactly these rows, in this order. */
  readonly keys?: readonly (string | number)[] | Extract<DynamicValue, { dynamic: 'keys' }>;
  readonly order: readonly OrderBy[];
  readonly limit: number | null;
  readonly offset: number;
  readonly pick: readonly Pick[];
  /** Answers groups instead of rows; `pick` and `order` are empty then. */
  readonly aggregate?: Aggregation;
  readonly meta: readonly ('total_count' | 'filter_count')[];
  /** A single object instead of a list: singletons and reads by key. */
  readonly single: boolean;
  /** Every pick is answered, as a selection says: one that may not be shown is null instead of left out. */
  readonly exact?: true;
  /** The row rule alone, for `total_count`. Set by `restrict`. */
  readonly rule?: Where;
  /** At the root: how values that are given when the statement runs become what it compares with. */
  readonly placeholders?: readonly PlaceholderBinder[];
}

/** Checks and casts the value of one `Given`, by names. */
export type PlaceholderBinder = (values: GivenValues) => BoundValue;

/** Values of the run, by the names of their `Given`s. */
export type GivenValues = Readonly<Record<string, unknown>>;

/** A value, or the list of values of `_in` and `_nin`, as the column has it. */
export type BoundValue = Value | readonly Value[];

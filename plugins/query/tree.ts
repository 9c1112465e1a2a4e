import type { Collection, Field } from '../schema/contract.ts';
import type { NowOffset } from './now-dynamic-value.ts';
import type { ColumnOutputFormat } from './selection.ts';

// The tree of a parsed query: nodes of rows, their projections, and their conditions. `access` writes `rule` and `when` into it.

/** Operators of filters, as the API names them. */
// biome-ignore format: a table by kind
export const FILTER_OPERATORS = [
  '_eq', '_neq', '_ieq', '_nieq', '_lt', '_lte', '_gt', '_gte', '_in', '_nin', '_between', '_nbetween', '_null', '_nnull',
  '_empty', '_nempty', '_contains', '_ncontains', '_icontains', '_nicontains', '_starts_with', '_nstarts_with',
  '_istarts_with', '_nistarts_with', '_ends_with', '_nends_with', '_iends_with', '_niends_with', '_has_any', '_has_all',
  '_intersects', '_nintersects', '_intersects_bbox', '_nintersects_bbox',
] as const;

/** A filter operator: one of `FILTER_OPERATORS`. */
export type FilterOperator = (typeof FILTER_OPERATORS)[number];

/** A value that is resolved when the statement runs, so that a compiled statement can be cached for many callers. */
export type DynamicValue =
  /** With `path` the value of a field on a path from the row of the user or role. */
  | { readonly dynamic: 'user' | 'role'; readonly path?: DynamicValuePath }
  | ({ readonly dynamic: 'now' } & NowOffset)
  /** The key of a read by key, so that one compiled statement reads any row of the collection. */
  | { readonly dynamic: 'key' }
  /** The keys of a read by several keys. */
  | { readonly dynamic: 'keys' }
  /** The rows of a read that has them from its caller, as one JSON list of objects with a member for each column. */
  | { readonly dynamic: 'rows' }
  /** `at` is an index in `Read.placeholders`; with `list` it stands for the whole list of values. */
  | { readonly dynamic: 'placeholder'; readonly at: number; readonly list?: true };

/** The path of `$CURRENT_USER.company.name`: the fields from the row of the caller's user or role to the value. */
export interface DynamicValuePath {
  readonly start: Collection;
  /** The row rule of `start`, when the path stands in the caller's own query. */
  readonly rule?: ConditionTree;
  readonly steps: readonly DynamicValuePathStep[];
  /** The path has a to-many relation, so that it may lead to several values. */
  readonly isMultiValued: boolean;
}

/** One field of a path such as `$CURRENT_USER.company.name`. */
export interface DynamicValuePathStep {
  readonly use: FieldReference;
  /** The related collection, with its row rule once restricted. */
  readonly to?: Collection;
  readonly rule?: ConditionTree;
}

/** The right side of a comparison. */
export type FilterOperand = string | number | boolean | null | DynamicValue;

/** Functions of dates and times. Their result is a whole number. */
export const DATE_PARTS = ['year', 'month', 'week', 'day', 'weekday', 'hour', 'minute', 'second'] as const;

/** A part of a date or time: one of `DATE_PARTS`. */
export type DatePart = (typeof DATE_PARTS)[number];

/** A function of a field (conventions, "Functions"). The result is a whole number, except for `json`. */
export type FieldFunction =
  | { readonly name: DatePart }
  /** The number of elements of a JSON array; with `to` the number of related rows, under the row rule once restricted. */
  | { readonly name: 'count'; readonly to?: Collection; readonly rule?: ConditionTree }
  | { readonly name: 'json'; readonly path: readonly string[] };

/** A field in a condition or an order. With `when` it is null for the caller on rows that do not match. */
export interface FieldReference {
  readonly field: Field;
  readonly fn?: FieldFunction;
  readonly when?: ConditionTree;
  /** For `$FOLLOW`: the foreign key in the related collection. It must be readable, since there is no alias on this side. */
  readonly follow?: Field;
}

/** A condition on a row. */
export type ConditionTree =
  | { readonly kind: 'and'; readonly of: readonly ConditionTree[] }
  | { readonly kind: 'or'; readonly of: readonly ConditionTree[] }
  | {
      readonly kind: 'test';
      readonly use: FieldReference;
      readonly operator: FilterOperator;
      readonly values: readonly FilterOperand[];
    }
  /** A condition on the row behind a many-to-one. A missing row counts as a row of nulls. */
  | {
      readonly kind: 'one';
      readonly use: FieldReference;
      readonly to: Collection;
      readonly where: ConditionTree;
      /** The row rule of the related collection, once restricted. */
      readonly rule?: ConditionTree;
    }
  /** A condition on the rows behind a to-many alias: at least one row matches, or none does. */
  | {
      readonly kind: 'many';
      readonly use: FieldReference;
      readonly to: Collection;
      readonly quantifier: 'some' | 'none';
      /** Set for `_some`, `_none` and null tests: independent of other conditions on the alias, which are about one row. */
      readonly own?: true;
      readonly where: ConditionTree;
      readonly rule?: ConditionTree;
    }
  /** A condition on the row behind a many-to-any, when that is a row of `to`. */
  | {
      readonly kind: 'any';
      readonly use: FieldReference;
      /** The field that names the related collection. */
      readonly by: Field;
      readonly to: Collection;
      readonly where: ConditionTree;
      readonly rule?: ConditionTree;
    }
  /** A condition on the value at `path` inside a JSON value. */
  | {
      readonly kind: 'inside';
      readonly use: FieldReference;
      readonly path: readonly string[];
      readonly as: 'text' | 'number' | 'boolean';
      readonly operator: FilterOperator;
      readonly values: readonly FilterOperand[];
    }
  /** The row is one of these rows, which all belong to its collection. Only permissions have this condition. */
  | { readonly kind: 'reachable'; readonly of: readonly ReachableRows[] }
  | { readonly kind: 'fixed'; readonly value: boolean };

/** Rows of a collection with a key: those of a condition, or those of them to which one relation leads from other rows. */
export interface ReachableRows {
  readonly collection: Collection;
  readonly where: ConditionTree;
  /** The relation, and the rows that it starts at. `by`: for a many-to-any, the field that names the related collection. */
  readonly from?: { readonly rows: ReachableRows; readonly use: FieldReference; readonly by?: Field };
}

/** One relation on the path to a sorted column. */
export interface OrderByRelation {
  readonly use: FieldReference;
  /** For a many-to-any: the field that names the related collection. */
  readonly by?: Field;
  readonly to: Collection;
  readonly rule?: ConditionTree;
}

/** One column that rows are sorted by. */
export interface OrderBy {
  /** Relations on the path to the sorted column, each with the row rule of its collection once restricted. */
  readonly path: readonly OrderByRelation[];
  readonly use: FieldReference;
  readonly descending: boolean;
  /** Default order or tie breaker: not part of the query, and allowed without permission to read the field. */
  readonly implied?: true;
}

/** One member of a row in the answer, under `key`. With `when` it is null on rows that do not match. */
export type Projection =
  | {
      readonly kind: 'column';
      readonly key: string;
      readonly field: Field;
      readonly fn?: FieldFunction;
      readonly as?: ColumnOutputFormat;
      readonly when?: ConditionTree;
    }
  /** A member with the same text in every row. */
  | { readonly kind: 'constant'; readonly key: string; readonly value: string | null }
  /** Several members of the same row in one object: `{ "year": 2024, "month": 5 }`. */
  | { readonly kind: 'object'; readonly key: string; readonly projections: readonly Projection[] }
  | {
      readonly kind: 'one';
      readonly key: string;
      readonly field: Field;
      readonly read: ReadNode;
      readonly when?: ConditionTree;
    }
  | {
      readonly kind: 'many';
      readonly key: string;
      readonly field: Field;
      readonly read: ReadNode;
      readonly when?: ConditionTree;
    }
  /** A to-many alias without nested fields: the list of related keys. */
  | {
      readonly kind: 'keys';
      readonly key: string;
      readonly field: Field;
      readonly read: ReadNode;
      readonly when?: ConditionTree;
    }
  /** A many-to-any with one read per collection. Rows of collections without a read show their key. */
  | {
      readonly kind: 'any';
      readonly key: string;
      readonly field: Field;
      readonly by: Field;
      readonly reads: readonly ReadNode[];
      /** Rows of collections without a read are null instead of their key. */
      readonly strict?: true;
      readonly when?: ConditionTree;
    };

/** Functions over groups of rows (conventions, "Aggregation"). */
export const AGGREGATE_FUNCTIONS = [
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

/** An aggregate function: one of `AGGREGATES`. */
export type AggregateName = (typeof AGGREGATE_FUNCTIONS)[number];

/** The aggregation of a read, which answers groups instead of rows (conventions, "Aggregation"). */
export interface Aggregation {
  readonly groups: readonly { readonly key: string; readonly use: FieldReference }[];
  /** With `use: null` the function counts rows. */
  readonly functions: readonly {
    readonly name: AggregateName;
    readonly key: string;
    readonly use: FieldReference | null;
  }[];
  /** `at` is an index in `groups` or `functions`. */
  readonly order: readonly {
    readonly of: 'groups' | 'functions';
    readonly at: number;
    readonly descending: boolean;
  }[];
  /** The members of a row, when they differ from the REST representation. Numbers are JSON numbers then. */
  readonly projections?: readonly GroupProjection[];
}

/** One member of a group in the answer. `at` is an index in `functions` of the aggregation. */
export type GroupProjection =
  | { readonly kind: 'constant'; readonly key: string; readonly value: string | null }
  /** All grouped values in one object, by their own keys. */
  | { readonly kind: 'groups'; readonly key: string }
  | { readonly kind: 'function'; readonly key: string; readonly at: number }
  | { readonly kind: 'object'; readonly key: string; readonly projections: readonly GroupProjection[] };

/** One node of a query tree: a read of rows or groups of one collection. `limit: null` means all rows. */
export interface ReadNode {
  readonly collection: Collection;
  readonly where: ConditionTree;
  readonly search: string | null;
  /** The fields that the search term is compared with: all searchable ones after `parse`, the readable ones after `restrict`. */
  readonly searchFields: readonly FieldReference[];
  /** Only the rows of these keys, in this order. */
  readonly keys?: readonly (string | number)[] | Extract<DynamicValue, { dynamic: 'keys' }>;
  /** Rows from the caller in place of those of the table: for rows as they were before a change. At the root of a tree only. */
  readonly rows?: Extract<DynamicValue, { dynamic: 'rows' }>;
  readonly order: readonly OrderBy[];
  readonly limit: number | null;
  readonly offset: number;
  readonly projections: readonly Projection[];
  /** Groups instead of rows; `projections` and `order` are empty then. */
  readonly aggregate?: Aggregation;
  readonly meta: readonly ('total_count' | 'filter_count')[];
  /** A single object instead of a list: singletons and reads by key. */
  readonly single: boolean;
  /** Set for reads by a selection: an unreadable projection is null instead of left out. */
  readonly exact?: true;
  /** The row rule alone, for `total_count`. Set by `restrict`. */
  readonly rule?: ConditionTree;
  /** One binder per placeholder of the statement; set at the root of a tree only. */
  readonly placeholders?: readonly PlaceholderBinder[];
}

/** Checks and casts the value of one placeholder; takes the values of all placeholders by name. */
export type PlaceholderBinder = (values: PlaceholderValues) => BoundPlaceholderValue;

/** The values of one run, by the names of the placeholders. */
export type PlaceholderValues = Readonly<Record<string, unknown>>;

/** The checked value of a placeholder, or the list of values for `_in` and `_nin`, in the type of the column. */
export type BoundPlaceholderValue = FilterOperand | readonly FilterOperand[];

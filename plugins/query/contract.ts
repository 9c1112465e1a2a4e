import { Failure, fail, service } from '#kernel';
import type { Collection, Overview } from '../schema/contract.ts';
import type { GroupSelection, Selection } from './selection.ts';
import type { Bound, GivenValues, Read, Where } from './tree.ts';

export { Given, isGivable } from './given.ts';
export { type Moment, momentAt, parseMoment } from './moment.ts';
export {
  aggregateOf,
  type GroupSelection,
  type Selected,
  type SelectedGroup,
  type Selection,
  type Terms,
} from './selection.ts';
export { spelledOut } from './spelled-out.ts';
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
  readonly backlink?: unknown;
  /** `csv`, `csv_utf8`, `json`, `xml`, `yaml`: how a route sends the rows; a read itself takes no notice. */
  readonly export?: unknown;
  readonly [other: string]: unknown;
}

export {
  AGGREGATES,
  type AggregateName,
  type Aggregation,
  type Bind,
  type Bound,
  DATE_PARTS,
  type DatePart,
  type Dynamic,
  type FieldUse,
  type Fn,
  type GivenValues,
  OPERATORS,
  type Operator,
  type Order,
  type OrderStep,
  type Pick,
  type Read,
  type ShownGroup,
  type Value,
  type Via,
  type ViaStep,
  type Where,
} from './tree.ts';

declare const restricted: unique symbol;
/** A tree into which the caller's permissions were written. The runner takes nothing else. */
export type Restricted<T> = T & { readonly [restricted]: true };

export interface Parse {
  readonly overview: Overview;
  /** Lists inside by-query writes, reads by key and reads by code have no default limit and no ceiling. */
  readonly unlimited?: boolean;
  /** A single object instead of a list. */
  readonly single?: boolean;
  /** Exactly these rows, in this order; or those that the statement is run for. */
  readonly keys?: NonNullable<Read['keys']>;
  /** Without it every field is. */
  readonly visible?: Visible;
  /** Told of a name in `fields` that is left out because no field has it, where the caller might know it. */
  readonly onUnknown?: () => void;
  /**
   * What to show and under which conditions, in place of what the query says (of which only `backlink` still counts). A
   * name in it that no field has, or that the caller may not know, is FORBIDDEN. Its conditions may have a `Given` in the
   * place of a value, or of the list of values of `_in` and `_nin`.
   */
  readonly selection?: Selection | GroupSelection;
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
  readonly keys?: readonly (string | number)[];
  /** What `Query.given` made. */
  readonly given?: readonly Bound[];
  /** The plugin that asks where no user does: for the log. */
  readonly owner?: string | undefined;
}

/** JSON made by PostgreSQL. `data` is null where a single row was asked for and there is none. */
export interface ReadText {
  readonly data: string | null;
  readonly meta: string | null;
}

export interface Query {
  /** The default and the largest limit (-1: none), and how deep and how wide a query may be. */
  readonly ceilings: {
    readonly default: number;
    readonly max: number;
    /** Relations inside each other. */
    readonly depth: number;
    /** Parts of one query. */
    readonly nodes: number;
  };
  /** Query → tree. Unknown fields in `fields` are dropped, elsewhere FORBIDDEN; bad grammar is INVALID_QUERY. */
  parse(collection: Collection, raw: RawQuery, options: Parse): Read;
  /** A filter alone. `trusted` ones (permission rules) may follow `$CURRENT_USER.a.b` with system rights. */
  filter(collection: Collection, raw: unknown, overview: Overview, options?: { trusted?: boolean }): Where;
  /** Runs one statement and passes its JSON through. */
  text(read: Restricted<Read>, subjects: Subjects, overview: Overview): Promise<ReadText>;
  /**
   * A compiled statement that may be kept while its key stays the same and run for any subjects. `rows` answers a row a
   * record instead of one text, for `stream`; there the counts of `meta` come first.
   */
  prepare(read: Restricted<Read>, overview: Overview, form?: 'text' | 'rows'): Prepared;
  /** The same, to be kept prepared on each connection: for a statement that came a second time. */
  keep(prepared: Prepared): Prepared;
  /** What `Given`s of a selection stand for in this run; INVALID_QUERY for what does not fit, as in any query. */
  given(prepared: Prepared, values?: GivenValues): readonly Bound[];
  run(prepared: Prepared, subjects: Subjects): Promise<ReadText>;
  /** The rows of a statement prepared as `rows`, as JSON texts in batches, through a cursor: memory stays flat. */
  stream(prepared: Prepared, subjects: Subjects, options?: { readonly signal?: AbortSignal }): Promise<Stream>;
  /** PostgreSQL's plan of the statement (`EXPLAIN`), without the values it would run with. */
  explain(prepared: Prepared, subjects: Subjects): Promise<unknown>;
  /** The same rows, parsed: for hooks and internal callers. */
  rows(read: Restricted<Read>, subjects: Subjects, overview: Overview): Promise<Record<string, unknown>[]>;
  /** A condition over the table alias `t`, for `update … where` and `delete … where`; parameters start at `first`. */
  condition(where: Restricted<Where>, subjects: Subjects, overview: Overview, first: number): Condition;
}

export interface Condition {
  readonly text: string;
  readonly params: readonly unknown[];
}

/** The first batch is there when this is, so that what is wrong is known before an answer begins. */
export interface Stream {
  /** JSON text of the counts, where asked for. */
  readonly meta: string | null;
  readonly batches: AsyncIterable<readonly string[]>;
}

export interface Prepared {
  readonly text: string;
  readonly form: 'text' | 'rows';
  /** What was asked without a value in it, for logs: `article[id,author[name]] where status._eq sort -date limit 25`. */
  readonly shape: string;
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

/**
 * How a field of the row under a table alias reads in answers, as SQL, and as a part of `jsonb`; and what a concealed
 * value reads as.
 */
export { keptExpression, MASK, readExpression } from './compile/expression.ts';
export { withoutValue } from './failures.ts';
/** A GeoJSON geometry as text; INVALID_QUERY with the path for what is none. */
export { geoJson } from './parse/geojson.ts';
/** The operators of a filter that fit a field of this type, where nothing of it is concealed. */
export { operatorsFor } from './parse/operators.ts';

const UNKNOWN_FIELD = 'unknown field ';

/** A name that is not in the overview. It looks like one that may not be read, so that nothing can be probed. */
export const unknownField = (name: string, collection: string): Failure =>
  fail('FORBIDDEN', `${UNKNOWN_FIELD}${name} of ${collection}`);

/** May the overview have been too old? */
export const isUnknownField = (error: unknown): boolean =>
  error instanceof Failure && (error.detail?.startsWith(UNKNOWN_FIELD) ?? false);

import { service } from '#kernel';
import type { Statement } from '../database/contract.ts';
import type { Collection, Field, Overview } from '../schema/contract.ts';
import type { GroupSelection, Selection } from './selection.ts';
import type { BoundValue, GivenValues, Read, Where } from './tree.ts';

export type { NowOffset } from './now.ts';
export type { Given } from './placeholder.ts';
export type {
  ColumnForm,
  GroupSelection,
  Selected,
  SelectedGroup,
  Selection,
  Terms,
} from './selection.ts';

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
  type BoundValue,
  DATE_PARTS,
  type DatePart,
  type DynamicValue,
  type FieldUse,
  type Fn,
  type GivenValues,
  type GroupProjection,
  OPERATORS,
  type Operator,
  type OrderBy,
  type OrderByStep,
  type Pick,
  type PlaceholderBinder,
  type Read,
  type Value,
  type ValuePath,
  type ValuePathStep,
  type Where,
} from './tree.ts';

declare const restricted: unique symbol;
/** A tree into which the caller's permissions were written. The runner takes nothing else. */
export type Restricted<T> = T & { readonly [restricted]: true };

/** How a query is parsed. */
export interface ParseOptions {
  readonly overview: Overview;
  /** Lists inside by-query writes, reads by key and reads by code have no default limit and no ceiling. */
  readonly unlimited?: boolean;
  /** A single object instead of a list. */
  readonly single?: boolean;
  /** Exactly these rows, in this order; or those that the statement is run for. */
  readonly keys?: NonNullable<Read['keys']>;
  /** Which fields the caller may know; without it every field. */
  readonly visible?: FieldVisibility;
  /** Called for a name in `fields` that is left out because no field has it, where the caller might know it. */
  readonly onUnknown?: () => void;
  /**
   * What to show and under which conditions, in place of what the query says (of which only `backlink` still counts). A
   * name in it that no field has, or that the caller may not know, is FORBIDDEN. Its conditions may have a `Given` in the
   * place of a value, or of the list of values of `_in` and `_nin`.
   */
  readonly selection?: Selection | GroupSelection;
}

/**
 * Whether the caller may know of this field at all. A field that may not be known is refused before its type is looked at, so
 * that no message shows what exists.
 */
export type FieldVisibility = (collection: Collection, field: string) => boolean;

/** The user and the role that `$CURRENT_USER` and `$CURRENT_ROLE` stand for when a statement runs, and its keys. */
export interface Subjects {
  readonly user: string | null;
  readonly role: string | null;
  readonly key?: string | number | null;
  readonly keys?: readonly (string | number)[];
  /** What `Query.given` made. */
  readonly given?: readonly BoundValue[];
  /** The plugin that reads where no user does: for the log. */
  readonly owner?: string | undefined;
  /** The address of the client: clients without a user share the pool's connections by it. */
  readonly ip?: string | null | undefined;
  readonly admin?: boolean | undefined;
}

/** JSON made by PostgreSQL. `data` is null where a single row was asked for and there is none. */
export interface ReadText {
  readonly data: string | null;
  readonly meta: string | null;
}

/**
 * Queries: from what a client sends to a tree, from a tree with permissions to one statement, from the statement to JSON. Provided
 * by `query`. What runs a statement also throws SERVICE_UNAVAILABLE where the database is not reached or takes too long.
 */
export interface Query {
  /** The default and the largest limit (-1: none), and how deep and how wide a query may be. */
  readonly ceilings: {
    readonly default: number;
    readonly max: number;
    /** Names in a row that a path may have: `author.country.name` has three. */
    readonly depth: number;
    /** Parts of one query. */
    readonly nodes: number;
  };
  /**
   * Query → tree. Unknown fields in `fields` are dropped.
   * @throws INVALID_QUERY for bad grammar, FORBIDDEN for an unknown name elsewhere and for what `visible` hides.
   */
  parse(collection: Collection, raw: RawQuery, options: ParseOptions): Read;
  /**
   * A filter alone. `trusted` ones (permission rules) may follow `$CURRENT_USER.a.b` with system rights.
   * @throws the errors of `parse`.
   */
  parseFilter(collection: Collection, raw: unknown, schema: Overview, options?: { trusted?: boolean }): Where;
  /**
   * Runs one statement and passes its JSON through.
   * @throws INVALID_QUERY for a value that only the database could judge.
   */
  readText(read: Restricted<Read>, context: Subjects, schema: Overview): Promise<ReadText>;
  /**
   * A compiled statement that may be kept while its key stays the same and run for any subjects. `rows` answers a row a
   * record instead of one text, for `stream`; there the counts of `meta` come first.
   * @throws INVALID_QUERY for more than 65,535 values.
   */
  prepare(read: Restricted<Read>, schema: Overview, form?: 'text' | 'rows'): Prepared;
  /**
   * SQL of the JSON text that `read` answers of the row under a table alias, for `returning` of a statement that writes it: undefined
   * where that needs more than the row's own columns, or a row rule counts.
   */
  ownRow(read: Restricted<Read>, schema: Overview, alias: string): string | undefined;
  /** A compiled statement to be kept prepared on each connection: for one that is run a second time. */
  keep(prepared: Prepared): Prepared;
  /**
   * What each `Given` of a selection stands for in this run.
   * @throws INVALID_QUERY for a value that does not fit its field.
   */
  given(prepared: Prepared, values?: GivenValues): readonly BoundValue[];
  /**
   * Runs a prepared statement.
   * @throws INVALID_QUERY for a value that only the database could judge.
   */
  run(prepared: Prepared, context: Subjects): Promise<ReadText>;
  /**
   * The rows of a statement prepared as `rows`, as JSON texts in batches, through a cursor: memory stays flat.
   * @throws INVALID_QUERY like `run`; SERVICE_UNAVAILABLE too where no cursor is free within ten seconds.
   */
  stream(prepared: Prepared, context: Subjects, options?: { readonly signal?: AbortSignal }): Promise<Stream>;
  /** PostgreSQL's plan of the statement (`EXPLAIN`), without the values it would run with. */
  explain(prepared: Prepared, context: Subjects): Promise<unknown>;
  /**
   * The same rows as `text`, parsed: for hooks and internal callers.
   * @throws INVALID_QUERY like `text`.
   */
  rows(read: Restricted<Read>, context: Subjects, schema: Overview): Promise<Record<string, unknown>[]>;
  /**
   * A condition over the table alias `t`, for `update … where` and `delete … where`; parameters start at `first`.
   * @throws INVALID_QUERY for more than 65,535 values.
   */
  condition(where: Restricted<Where>, context: Subjects, schema: Overview, first: number): GrantedCondition;
}

/** A condition as SQL, with the values of its parameters. */
export interface Condition {
  readonly text: string;
  readonly params: readonly unknown[];
}

/** One that plugins without the `sql` grant may put into their statements, whatever tables it reads. */
export interface GrantedCondition extends Condition {
  readonly where: Statement;
}

/** The first batch is there when this is, so that what is wrong is known before an answer begins. */
export interface Stream {
  /** JSON text of the counts, where asked for. */
  readonly meta: string | null;
  readonly batches: AsyncIterable<readonly string[]>;
}

/** A compiled statement. */
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

/** For `items` and `access`, and for plugins that read by trees of their own. */
export const query = service<Query>('query', { version: '1.0.0' });

/** The only maker of `Restricted`. By the manifests only `access` uses it, which a test checks. */
export interface Sealing {
  /** Marks a tree as restricted, without looking at it. */
  seal<T extends object>(tree: T): Restricted<T>;
  /** The value of a field in one row, as JSON has it, past all permissions; null where there is no such row. */
  readValue(collection: Collection, field: Field, key: unknown): Promise<unknown>;
}

/** For `access` alone. */
export const sealing = service<Sealing>('sealing', { version: '1.0.0', coreOnly: true });

/** What a concealed value reads as. */
export { MASK } from './compile/output.ts';

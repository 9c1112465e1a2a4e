import { service } from '#kernel';
import type { GrantedSqlStatement } from '../database/contract.ts';
import type { Collection, Field, SchemaOverview } from '../schema/contract.ts';
import type { AnswerSources, StatementSources } from './answer-source-types.ts';
import type { GroupSelection, RowSelection } from './selection.ts';
import type { BoundPlaceholderValue, ConditionTree, PlaceholderValues, ReadNode } from './tree.ts';

export type { AnswerSources, StatementSources } from './answer-source-types.ts';
export type { NowOffset } from './now-dynamic-value.ts';
export type { OperandPlaceholder } from './placeholder.ts';
export type {
  ColumnOutputFormat,
  GroupSelection,
  GroupSelectionItem,
  RowSelection,
  SelectionItem,
  SelectionListParameters,
} from './selection.ts';

/**
 * A query before parsing (specification, "Queries"): from a query string, a `SEARCH` body or a service call. Every member may be a
 * text or the parsed value.
 */
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
  /** `csv`, `csv_utf8`, `json`, `xml`, `yaml`: the format of the response. Routes use it; the parser ignores it. */
  readonly export?: unknown;
  readonly [other: string]: unknown;
}

export {
  AGGREGATE_FUNCTIONS,
  type AggregateName,
  type Aggregation,
  type BoundPlaceholderValue,
  type ConditionTree,
  DATE_PARTS,
  type DatePart,
  type DynamicValue,
  type DynamicValuePath,
  type DynamicValuePathStep,
  FILTER_OPERATORS,
  type FieldFunction,
  type FieldReference,
  type FilterOperand,
  type FilterOperator,
  type GroupProjection,
  type OrderBy,
  type OrderByRelation,
  type PlaceholderBinder,
  type PlaceholderValues,
  type Projection,
  type ReachableRows,
  type ReadNode,
} from './tree.ts';

declare const restricted: unique symbol;
/** A tree that `access` restricted to the caller's permissions. Only such trees can be prepared and run. */
export type PermissionRestricted<T> = T & { readonly [restricted]: true };

/** Options of `Query.parse`. */
export interface ParseOptions {
  /** The schema snapshot that names are resolved in. */
  readonly schema: SchemaOverview;
  /** No default limit and no largest limit: for by-query writes, reads by key and reads by plugins. Default: false. */
  readonly unlimited?: boolean;
  /** The answer is one object instead of a list. Default: false. */
  readonly single?: boolean;
  /** Only the rows of these keys, in this order; or the keys of each run (`QueryExecutionContext.keys`). */
  readonly keys?: NonNullable<ReadNode['keys']>;
  /** Reads `QueryExecutionContext.rows` in place of the rows of the table. Related rows come from their tables. */
  readonly rows?: true;
  /** The fields that the query may name. Default: every field. */
  readonly isVisible?: FieldVisibility;
  /** Called when the parser leaves out an unknown name in `fields` that is not hidden from the caller. */
  readonly onUnknownField?: () => void;
  /**
   * Fields and conditions that replace those of the query (only its `backlink` still counts). An unknown or hidden name in the
   * selection is FORBIDDEN. Its conditions may have an `OperandPlaceholder` instead of a value, or of the list of values of `_in`
   * and `_nin`.
   */
  readonly selection?: RowSelection | GroupSelection;
}

/**
 * Whether the caller may name this field. The parser refuses a hidden field before it looks at its type, so that no error reveals
 * which fields exist.
 */
export type FieldVisibility = (collection: Collection, field: string) => boolean;

/** What a prepared statement needs at run time: the values of dynamic values, keys and placeholders, and the origin for the log. */
export interface QueryExecutionContext {
  /** `$CURRENT_USER`; null for a caller without a user. */
  readonly user: string | null;
  /** `$CURRENT_ROLE`; null for a caller without a role. */
  readonly role: string | null;
  /** The key of a statement that reads one row by key. */
  readonly key?: string | number | null;
  /** The keys of a statement that reads rows by keys. */
  readonly keys?: readonly (string | number)[];
  /** The rows of a read of `ParseOptions.rows`: JSON text of a list of objects, as `to_jsonb` makes them of rows of the table. */
  readonly rows?: string;
  /** The result of `Query.bindPlaceholders`. */
  readonly boundValues?: readonly BoundPlaceholderValue[];
  /** The plugin that reads on its own behalf, for the log of slow reads. */
  readonly owner?: string | undefined;
  /** The client's IP address: the connection pool limits clients without a user by it. */
  readonly ip?: string | null | undefined;
  readonly admin?: boolean | undefined;
}

/** JSON texts from PostgreSQL. `data` is null when a single row does not exist; `meta` is null when the query has no `meta`. */
export interface ReadResultText {
  readonly data: string | null;
  readonly meta: string | null;
}

/**
 * The query engine, provided by `query`: parses a query to a tree, compiles a restricted tree to one statement, and runs it. Every
 * method that runs a statement also throws SERVICE_UNAVAILABLE when the database is not reachable or too slow.
 */
export interface QueryEngine {
  /** The limits that the settings of `query` give to queries. */
  readonly ceilings: {
    /** Rows of a list without `limit`. */
    readonly default: number;
    /** The largest `limit`; -1 is no limit. */
    readonly max: number;
    /** The largest number of names in a path: `author.country.name` has three. */
    readonly depth: number;
    /** The largest number of fields, conditions and relations in one query. */
    readonly nodes: number;
  };
  /**
   * Parses a query to a tree. Unknown names in `fields` are left out.
   * @throws INVALID_QUERY for bad grammar; FORBIDDEN for an unknown or hidden name in conditions, sort and aggregates.
   */
  parse(collection: Collection, raw: RawQuery, options: ParseOptions): ReadNode;
  /**
   * Parses a filter alone. A `trusted` filter (a permission rule) may use concealed fields in `$CURRENT_USER.a.b`.
   * @throws the errors of `parse`.
   */
  parseFilter(
    collection: Collection,
    raw: unknown,
    schema: SchemaOverview,
    options?: { trusted?: boolean },
  ): ConditionTree;
  /**
   * Prepares and runs a read, and answers the JSON texts of PostgreSQL unchanged.
   * @throws INVALID_QUERY for a value that PostgreSQL refuses.
   */
  readText(
    read: PermissionRestricted<ReadNode>,
    context: QueryExecutionContext,
    schema: SchemaOverview,
  ): Promise<ReadResultText>;
  /**
   * Compiles a tree to a statement that can be cached and run in any context. With `rows` the statement answers one record per row
   * for `stream`, after a first record with the counts of `meta`; with `keyed` it answers the rows for `runKeyed`. Default form: `text`.
   * @throws INVALID_QUERY for more than 65,535 values.
   */
  prepare(
    read: PermissionRestricted<ReadNode>,
    schema: SchemaOverview,
    form?: PreparedStatement['form'],
  ): PreparedStatement;
  /**
   * SQL of the JSON text of one row, for the `returning` clause of the statement that writes it; `alias` is the table alias of the
   * row. Undefined when the read needs more than the columns of the row, or when a row rule applies.
   */
  compileReturning(read: PermissionRestricted<ReadNode>, schema: SchemaOverview, alias: string): string | undefined;
  /** Gives the statement a name, by which connections keep it prepared: for a statement that runs a second time. */
  keepPrepared(prepared: PreparedStatement): PreparedStatement;
  /**
   * Checks and casts the values of the placeholders of a selection for one run.
   * @throws INVALID_QUERY for a value that does not fit its field.
   */
  bindPlaceholders(prepared: PreparedStatement, values?: PlaceholderValues): readonly BoundPlaceholderValue[];
  /**
   * Runs a prepared statement.
   * @throws INVALID_QUERY for a value that PostgreSQL refuses.
   */
  run(prepared: PreparedStatement, context: QueryExecutionContext): Promise<ReadResultText>;
  /**
   * Runs a statement prepared as `keyed`, for a list of a collection with a key, and answers each row with its key.
   * @throws INVALID_QUERY like `run`.
   */
  runKeyed(prepared: PreparedStatement, context: QueryExecutionContext): Promise<readonly KeyedRowText[]>;
  /**
   * Runs a statement prepared as `rows` through a cursor and answers its rows as JSON texts in batches, so that memory stays flat.
   * Without `options.signal` the signal of the current request cancels it.
   * @throws INVALID_QUERY like `run`; SERVICE_UNAVAILABLE also when no cursor is free within ten seconds.
   */
  stream(
    prepared: PreparedStatement,
    context: QueryExecutionContext,
    options?: { readonly signal?: AbortSignal },
  ): Promise<RowStream>;
  /**
   * Sets the function that finds the collector of the current request, to which reads report what their answers are made of. For the
   * cache of answers alone: while it is off, a read looks at one variable that is undefined.
   */
  setAnswerSourcesLookup(find: () => AnswerSources | undefined): void;
  /** The generic plan of the statement (`EXPLAIN (FORMAT JSON)`), without any value. */
  explain(prepared: PreparedStatement, context: QueryExecutionContext): Promise<unknown>;
  /**
   * Prepares and runs a read, and answers parsed rows: for plugins and hooks.
   * @throws INVALID_QUERY like `readText`.
   */
  readRows(
    read: PermissionRestricted<ReadNode>,
    context: QueryExecutionContext,
    schema: SchemaOverview,
  ): Promise<Record<string, unknown>[]>;
  /**
   * Compiles a condition on the table alias `t`, for `update … where` and `delete … where`. Parameter numbers start at `first`.
   * @throws INVALID_QUERY for more than 65,535 values.
   */
  compileCondition(
    where: PermissionRestricted<ConditionTree>,
    context: QueryExecutionContext,
    schema: SchemaOverview,
    first: number,
  ): TrustedSqlCondition;
}

/** A row as JSON texts. */
export interface KeyedRowText {
  /** The key, as answers show it: a number or a text. */
  readonly key: string;
  readonly row: string;
}

/** A compiled SQL condition with the values of its parameters. */
export interface SqlCondition {
  readonly text: string;
  readonly params: readonly unknown[];
}

/** A condition that plugins without the `sql` grant may use in their statements, also when it reads other tables. */
export interface TrustedSqlCondition extends SqlCondition {
  readonly where: GrantedSqlStatement;
}

/** Rows of a running cursor. The first batch is fetched before `stream` resolves, so that an error comes before the response begins. */
export interface RowStream {
  /** JSON text of the counts; null when the query has no `meta`. */
  readonly meta: string | null;
  readonly batches: AsyncIterable<readonly string[]>;
}

/** A compiled statement with its parameters. */
export interface PreparedStatement {
  readonly text: string;
  readonly form: 'text' | 'rows' | 'keyed';
  /** The read without any value, for logs: `article[id,author[name]] where status._eq sort -date limit 25`. */
  readonly shape: string;
  /** The name of the prepared statement; set by `keepPrepared`. */
  readonly name?: string;
  readonly params: readonly unknown[];
  readonly single: boolean;
  readonly hasMeta: boolean;
  /** What its answer depends on, beside its text and values. */
  readonly sources: StatementSources;
}

/** The query engine as a service, for `items`, `access` and plugins that build their own trees. */
export const query = service<QueryEngine>('query', { version: '1.0.0' });

/** Creates `PermissionRestricted` trees. Only the manifest of `access` names this service, which a test checks. */
export interface PermissionRestrictionMarker {
  /** Marks a tree as restricted without any check. */
  seal<T extends object>(tree: T): PermissionRestricted<T>;
  /** The value of a field of one row as parsed JSON, without permissions; null when the row does not exist. */
  readValue(collection: Collection, field: Field, key: unknown): Promise<unknown>;
}

/** The service that creates `PermissionRestricted` trees, for `access` alone. */
export const permissionRestrictionMarker = service<PermissionRestrictionMarker>('sealing', {
  version: '1.0.0',
  coreOnly: true,
});

/** The text that answers show instead of a concealed value. */
export { CONCEALED_VALUE_MASK } from './compile/output.ts';

import type { Knex } from 'knex';
import { authorities, facet, service } from '#kernel';
import type { OperationObserver } from '../telemetry/contract.ts';
import { combineObservers } from '../telemetry/library.ts';
import type { AbortSignalOrFactory } from './cancel.ts';

/** Migrations, and what commands see of them. */
export {
  type DatabaseMaintenance,
  type Migration,
  type Migrator,
  maintenance,
  migrations,
  migrator,
  type RecordedMigration,
} from './migration-contract.ts';

/** The result of a statement. */
export interface QueryResult<Row = Record<string, unknown>> {
  readonly rows: Row[];
  /** Number of rows that were changed or returned. */
  readonly count: number;
}

/**
 * The collection and the client that a connection of the pool is counted for. Each may hold most connections, never all
 * (ADR 32).
 */
export interface PoolShareHolder {
  /** Name of the collection that is read or written; undefined for other statements. */
  readonly collection: string | undefined;
  /** The user, the address of a client without a user, or the plugin that acts for itself. */
  readonly client: string;
  /**
   * `service` may use the reserved connections: admins, code that acts as the system, and the service itself, as for a
   * login.
   */
  readonly rank: 'request' | 'service';
}

/** Options of one statement. */
export interface StatementOptions {
  /** Prepares the statement under this name on each connection. For statements that run often. */
  readonly name?: string;
  /**
   * The last statement of this unit of work. Where it is also the first one, and the unit is not nested, it commits by
   * itself, without `begin` and `commit`. A later statement of the unit fails. Default false.
   */
  readonly last?: boolean;
  /**
   * Aborting the signal cancels the statement, which then fails with the signal's reason. A function is called only when the
   * statement takes long. Ignored inside a unit of work: its statements run to their end.
   */
  readonly signal?: AbortSignalOrFactory;
  /** The share of a statement outside a unit of work. Default: the share of the plugin. */
  readonly share?: PoolShareHolder;
}

/** Options of a unit of work; a nested unit ignores them. */
export interface TransactionOptions extends Pick<StatementOptions, 'share'> {
  /**
   * Aborting the signal before the commit begins ends the unit: its statement is cancelled, the unit is rolled back and fails
   * with the signal's reason. A function is called only when the unit takes long.
   */
  readonly signal?: AbortSignalOrFactory;
  /** Milliseconds after which the unit is rolled back and fails with SERVICE_UNAVAILABLE. Default 0: no limit. */
  readonly timeout?: number;
}

/**
 * What a grant allows for a table. `own` includes the others; `write` includes reading; `watch` allows triggers only.
 */
export type TableUse = 'own' | 'write' | 'read' | 'watch';

/** A granted table, to interpolate into `db.sql`. Its text is the quoted name with its schema. */
export interface TableHandle {
  readonly name: string;
  readonly use: TableUse;
  toString(): string;
}

/**
 * A statement or a part of one, whose tables are granted. Only `db.sql` creates it: a look-alike object is
 * CAPABILITY_DENIED.
 */
export interface GrantedSqlStatement {
  readonly text: string;
}

/** A statement of `db.sql`, or plain SQL text, which needs the grant `sql` or `schema`, else CAPABILITY_DENIED. */
export type SqlStatementOrText = GrantedSqlStatement | string;

/**
 * `host.db`: the part of the database that a manifest grants. Every call runs on the connection of the current unit of
 * work, else on one of the pool. Tables and actions outside the grant are CAPABILITY_DENIED.
 */
export interface Db {
  /**
   * A Knex query builder on one granted table (`own`, `read`, `write`) of the first schema.
   * @throws CAPABILITY_DENIED for any other table, and for what the use does not allow
   */
  table(name: string): Knex.QueryBuilder;
  /**
   * A Knex for models of objection (`Model.bindKnex`): it builds queries on the granted tables of the first schema, each checked as one
   * of `table` is, and has neither raw
   * statements nor DDL nor transactions. For graphs of a plugin's own rows; collections of the API are read
   * by `items`.
   * @throws CAPABILITY_DENIED, by each query, for any other table, and for what the use does not allow
   */
  modelKnex(): Knex;
  /**
   * Handles of a granted table for `db.sql`: to read it, write it, alter it, or put a trigger on it. Create them while
   * the plugin registers, so that a missing grant fails at the start.
   *
   * @throws CAPABILITY_DENIED where the grant does not name the table for this use
   */
  read(table: string): TableHandle;
  write(table: string): TableHandle;
  own(table: string): TableHandle;
  watch(table: string): TableHandle;
  /**
   * A statement, or a part of one. Values are parameters (`$1`). Interpolated are handles and statements of this
   * plugin, and statements that another plugin with the grant `sql` created by `raw`.
   *
   * @throws CAPABILITY_DENIED for anything else, and where a table is the target of more than its handle allows
   */
  sql(texts: TemplateStringsArray, ...parts: readonly (TableHandle | GrantedSqlStatement)[]): GrantedSqlStatement;
  /** A double-quoted name, such as that of a column or a function. */
  name(text: string): GrantedSqlStatement;
  /** An SQL literal, for statements that take no parameters (DDL). */
  literal(text: string): GrantedSqlStatement;
  /**
   * SQL text of any kind (grant `sql`). Other plugins may interpolate it: it runs by the grant of the plugin that
   * created it.
   */
  raw(text: string): GrantedSqlStatement;
  /**
   * Runs one statement.
   * @throws CAPABILITY_DENIED for a statement that `db.sql` did not create, SERVICE_UNAVAILABLE where the database is
   * not reached or takes too long, INTERNAL_SERVER_ERROR after the end of its unit of work; else the error of
   * PostgreSQL
   */
  query<Row = Record<string, unknown>>(
    sql: SqlStatementOrText,
    params?: readonly unknown[],
    options?: StatementOptions,
  ): Promise<QueryResult<Row>>;
  /**
   * The columns of the first row as texts; undefined without a row. For statements that answer JSON: it reads neither
   * names nor types and creates no row object.
   * @throws the errors of `query`
   */
  first(
    sql: SqlStatementOrText,
    params?: readonly unknown[],
    options?: StatementOptions,
  ): Promise<readonly (string | null)[] | undefined>;
  /**
   * The rows of a statement of one text column, in batches of about 256 KiB, through a cursor: each `next`
   * fetches a batch. Holds a connection from the first batch until the last one, or until `return`; streams share half
   * of the pool. Fails inside a unit of work.
   * @throws SERVICE_UNAVAILABLE where no connection is free within DB_POOL_WAIT_TIMEOUT, and the errors of `query`
   */
  stream(
    sql: SqlStatementOrText,
    params?: readonly unknown[],
    options?: Pick<StatementOptions, 'signal' | 'share'>,
  ): AsyncGenerator<readonly string[], void, undefined>;
  /**
   * Runs DDL on tables of `own` and `watch` handles, or on any table (grant `ddl`). DB_STATEMENT_TIMEOUT does not
   * apply.
   * @throws CAPABILITY_DENIED for tables outside of the grant, and the error of PostgreSQL
   */
  ddl(sql: SqlStatementOrText): Promise<void>;
  /**
   * A unit of work: all statements of `work`, also those of services it calls, commit together or not at all. A nested
   * unit joins the outer one, and its failure fails the outer one. `share` defaults to the share of the plugin.
   * @throws what `work` throws, after the rollback
   */
  transaction<T>(work: () => Promise<T>, options?: TransactionOptions): Promise<T>;
  /** Whether a unit of work is open around the caller. */
  isInUnitOfWork(): boolean;
  /**
   * The full Knex builder: any table, any statement, DDL (grants `sql` and `ddl`). Its transactions are units of work;
   * nested transactions are savepoints, which may fail without the outer one.
   * @throws CAPABILITY_DENIED without both grants
   */
  builder(): Knex;
  /**
   * Runs `work` in the transaction that a Knex object of `builder()` belongs to, or without one.
   * @throws what `work` throws
   */
  runInTransaction<T>(builder: unknown, work: () => Promise<T>): Promise<T>;
  /**
   * Queues `effect` until the outermost unit of work has committed. Runs it at once where none is open, never after a
   * rollback.
   */
  afterCommit(effect: () => void): void;
  /**
   * Runs `wait` after the commit of the outermost unit of work and after its after-commit queue; the unit resolves when
   * `wait` has settled. Runs the same `wait` once a unit, and never where no unit is open.
   */
  answerAfter(wait: () => Promise<void>): void;
  /**
   * The name of the plugin's own schema, whose tables plain statements may use. Call it while the plugin registers, so that a missing
   * grant fails at the start.
   * @throws CAPABILITY_DENIED without the grant `schema`
   */
  ownSchema(): string;
  /** The schemas of DB_SCHEMAS. The first one also holds the tables of the service. */
  readonly schemas: readonly string[];
  /** Names of the tables that the manifests of all loaded plugins own, in the first schema. */
  ownedTables(): ReadonlySet<string>;
  /** Names of the schemas of their own that manifests of loaded plugins have. */
  ownedSchemas(): ReadonlySet<string>;
  /** `server_version_num` of PostgreSQL, such as 180004; 0 before the first connection. */
  readonly serverVersion: number;
}

declare module '#kernel' {
  interface HostMembers {
    readonly db: Db;
  }
}

/** Connections outside the pool: for `cluster` to listen on, for `queue` to fetch jobs on. The caller ends them. */
export interface DedicatedConnections {
  /**
   * Opens a connection; `onLost` runs when it breaks before it is ended.
   * @throws the error of the driver where the database is not reached
   */
  openDedicated(onLost: () => void): Promise<DedicatedConnection>;
  /**
   * Runs `work` at the start, once the database is reached and before migrations: for what other processes have to see of this one
   * before it decides whether it works with the tables. Call it while the plugin registers.
   */
  beforeMigrations(work: () => Promise<void>): void;
}

/** One connection to the database that no other plugin uses. */
export interface DedicatedConnection {
  /**
   * Runs one statement, or a text of several without parameters, after the earlier ones have finished; answers the rows of all of them.
   * @throws the error of PostgreSQL
   */
  query<Row = Record<string, unknown>>(text: string, params?: readonly unknown[]): Promise<QueryResult<Row>>;
  /** Calls `handle` with every notification of the channels this connection listens to. */
  onNotification(handle: (channel: string, payload: string) => void): void;
  /** Closes the connection; `onLost` does not run. */
  end(): Promise<void>;
}

/** Connections outside the pool, for the plugins `cluster` and `queue`. */
export const dedicatedConnections = service<DedicatedConnections>('connections', { version: '1.0.0', coreOnly: true });

/** Lifts DB_STATEMENT_TIMEOUT for the current unit of work, before statements such as `create index`. */
export const DISABLE_STATEMENT_TIMEOUT_SQL = 'set local statement_timeout to 0';

/** Observers of the statements of all plugins, each named by its plugin. Migrations of the start are not observed. */
export const databaseObservers = facet<OperationObserver, OperationObserver | undefined>('database.observers', {
  combine: combineObservers,
  coreOnly: true,
  describe: () => authorities('listens to', ['statements'], 'of all plugins'),
});

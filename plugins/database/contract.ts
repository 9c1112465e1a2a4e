import type { Knex } from 'knex';
import { authorities, facet, service } from '#kernel';
import type { SignalSource } from './cancel.ts';

/** What a statement answers. */
export interface QueryResult<Row = Record<string, unknown>> {
  readonly rows: Row[];
  /** Rows changed or returned. */
  readonly count: number;
}

/** Whose share of the pool's connections a statement takes: a collection and a client may each hold most of them, and never all. */
export interface Share {
  /** Name of the collection that is read or written; undefined where it is none. */
  readonly collection: string | undefined;
  /** The user, the address of a client without a user, or the plugin that acts for itself. */
  readonly client: string;
  /** `service`: of an admin, of code that acts as the system, or the service's own, as for a login. */
  readonly rank: 'request' | 'service';
}

/** How one statement is run. */
export interface StatementOptions {
  /** Prepared under this name on each connection: for statements that come again and again. */
  readonly name?: string;
  /**
   * Nothing follows in this unit of work. Where it is also the unit's first statement, and the unit is in no other one, it
   * commits by itself: no `begin` and no `commit` around it. A statement that comes after it all the same is refused.
   */
  readonly last?: boolean;
  /**
   * Aborting it cancels the statement, which then fails with the signal's reason. Asked for when the statement takes long,
   * where it is a function; inside a unit of work it is not looked at: what belongs together runs to its end.
   */
  readonly signal?: SignalSource;
  /** Of a statement outside of a unit of work; that of the plugin without it. */
  readonly share?: Share;
}

/** How a unit of work runs that is in no other one. */
export interface TransactionOptions extends Pick<StatementOptions, 'share'> {
  /**
   * Aborting it before the commit begins ends the unit: its statement is cancelled, all is rolled back, and it fails with the signal's
   * reason. Asked for when the unit takes long, where it is a function.
   */
  readonly signal?: SignalSource;
  /** Milliseconds after which it is ended likewise, and fails with SERVICE_UNAVAILABLE; 0 is no limit, which is the default. */
  readonly timeout?: number;
}

/** How a grant names a table. `own` includes the others; `write` includes reading; `watch` is a trigger and nothing else. */
export type TableUse = 'own' | 'write' | 'read' | 'watch';

/** A table that the grant names, for `db.sql`. As a text it is the table's quoted name with its schema. */
export interface Table {
  readonly name: string;
  readonly use: TableUse;
  toString(): string;
}

/** SQL, whole or in part, whose tables are granted. Made by `db.sql` only: an object like it is refused (CAPABILITY_DENIED). */
export interface Statement {
  readonly text: string;
}

/** Plain text needs the `sql` grant; CAPABILITY_DENIED without it. */
export type Sql = Statement | string;

/**
 * `host.db`: the part of the database that a manifest grants. Every call runs on the connection of the current unit of
 * work, or on one of the pool's where none is open. Whatever the grant does not name is CAPABILITY_DENIED.
 */
export interface Db {
  /**
   * A query builder on one granted table of the service's own (`own`, `read`, `write`).
   * @throws CAPABILITY_DENIED for any other table, and for what the use does not allow
   */
  table(name: string): Knex.QueryBuilder;
  /**
   * A granted table as part of a statement: to read it, to write it, to change it as well, or to put a trigger on it. Made
   * once, while the plugin registers, so that a missing grant is known at once.
   *
   * @throws CAPABILITY_DENIED where the grant does not name the table for this use
   */
  read(table: string): Table;
  write(table: string): Table;
  own(table: string): Table;
  watch(table: string): Table;
  /**
   * A statement, or a part of one. Values are parameters (`$1`); what is interpolated is a `Table` or a `Statement` of this
   * plugin, or a `Statement` that a holder of `sql` made by `raw`.
   *
   * @throws CAPABILITY_DENIED for anything else, and where a table is the target of more than its handle allows
   */
  sql(texts: TemplateStringsArray, ...parts: readonly (Table | Statement)[]): Statement;
  /** A name, double-quoted: of a column or of a function, for instance. */
  name(text: string): Statement;
  /** A text as an SQL literal, for what takes no parameters. */
  literal(text: string): Statement;
  /** Text of any kind (`sql`), which other plugins may interpolate: the authority for it is that of the plugin that made it. */
  raw(text: string): Statement;
  /**
   * Runs one statement.
   * @throws CAPABILITY_DENIED for a statement that `db.sql` did not make, SERVICE_UNAVAILABLE where the database is not reached or
   * takes too long, INTERNAL_SERVER_ERROR after the end of its unit of work; else the error of PostgreSQL
   */
  query<Row = Record<string, unknown>>(
    sql: Sql,
    params?: readonly unknown[],
    options?: StatementOptions,
  ): Promise<QueryResult<Row>>;
  /**
   * The columns of the first row as texts, undefined without one: for statements that answer JSON. Neither names nor types
   * are looked at, and no row object is made.
   * @throws the errors of `query`
   */
  first(
    sql: Sql,
    params?: readonly unknown[],
    options?: StatementOptions,
  ): Promise<readonly (string | null)[] | undefined>;
  /**
   * The rows of a statement of one text column, in batches of about a quarter of a megabyte, through a cursor: each `next`
   * fetches a batch. Holds a connection from the first batch until the last one, or until `return`; streams share half of the pool.
   * Not inside a unit of work.
   * @throws SERVICE_UNAVAILABLE where no connection is free within DB_POOL_WAIT_TIMEOUT, and the errors of `query`
   */
  stream(
    sql: Sql,
    params?: readonly unknown[],
    options?: Pick<StatementOptions, 'signal' | 'share'>,
  ): AsyncGenerator<readonly string[], void, undefined>;
  /**
   * Changes tables: those of handles that allow it, or any (`ddl`). Without the time limit of a statement.
   * @throws CAPABILITY_DENIED for tables outside of the grant, and the error of PostgreSQL
   */
  ddl(sql: Sql): Promise<void>;
  /**
   * A unit of work: all statements of `work`, also those of services it calls, commit together or not at all. Inside
   * another unit it joins that one. `share`: whose connections of the pool it takes; the plugin's without it.
   * @throws what `work` throws, after the rollback
   */
  transaction<T>(work: () => Promise<T>, options?: TransactionOptions): Promise<T>;
  /** Whether a unit of work is open: its statements need no connection of their own. */
  isInside(): boolean;
  /**
   * The whole query builder: any table, any statement, changes of tables (`sql` and `ddl`). Its transactions are units of work;
   * inside an open one they are parts that may fail by themselves.
   * @throws CAPABILITY_DENIED without both grants
   */
  builder(): Knex;
  /**
   * Runs `work` in the transaction that a builder of `builder()` stands for; where it stands for none, without one.
   * @throws what `work` throws
   */
  inside<T>(builder: unknown, work: () => Promise<T>): Promise<T>;
  /** Runs once the outermost unit of work has committed, at once where none is open, never after a rollback. */
  afterCommit(effect: () => void): void;
  /**
   * Runs `wait` once the outermost unit of work has committed, after the effects, and lets the unit answer when it is settled;
   * the same `wait` once a unit. Never where no unit is open.
   */
  answerAfter(wait: () => Promise<void>): void;
  /** Schemas served, the first one also holds the service's own tables. */
  readonly schemas: readonly string[];
  /** Names of the tables that the manifests of all loaded plugins own, in the first schema. */
  ownedTables(): ReadonlySet<string>;
  /** PostgreSQL's number of its own version, such as 180004; 0 before it is connected. */
  readonly serverVersion: number;
}

declare module '#kernel' {
  interface HostMembers {
    readonly db: Db;
  }
}

/** What `cluster` needs to listen: a connection outside the pool that the caller keeps and ends. */
export interface Connections {
  /**
   * Opens a connection; `onLost` runs when it breaks before it is ended.
   * @throws the error of the driver where the database is not reached
   */
  dedicated(onLost: () => void): Promise<DedicatedConnection>;
}

/** One connection to the database that no other plugin uses. */
export interface DedicatedConnection {
  /** Runs one statement after those before it. @throws the error of PostgreSQL */
  query<Row = Record<string, unknown>>(text: string, params?: readonly unknown[]): Promise<QueryResult<Row>>;
  /** Calls `handle` with every notification of the channels this connection listens to. */
  onNotification(handle: (channel: string, payload: string) => void): void;
  /** Closes the connection; nothing of it is left afterwards. */
  end(): Promise<void>;
}

/** Runs migrations that were contributed after the service had prepared its tables: by a plugin that is loaded meanwhile. */
export interface Migrator {
  /**
   * Runs every migration that is not recorded yet, under the lock of all processes.
   * @throws CAPABILITY_DENIED for a migration of a plugin without the capability `database`, and what a step throws
   */
  run(): Promise<void>;
}

/** For the plugin that loads plugins while the service runs. */
export const migrator = service<Migrator>('migrator', { version: '1.0.0', coreOnly: true });

/** For `cluster` alone. */
export const connections = service<Connections>('connections', { version: '1.0.0', coreOnly: true });

/** One step of a plugin's own tables. Steps run once, in plugin order, under an advisory lock, each in a transaction. */
export interface Migration {
  /** Unique within the plugin and never changed again, for example `2026-11-21-users`. */
  readonly id: string;
  /**
   * What ids of this step begin with whose id follows from what it makes: a recorded one that this version does not know is then
   * another state of the same tables, and no reason to refuse them.
   */
  readonly idPrefix?: string;
  /** `db` is the contributor's own `host.db`: its grant names the tables that a step may make and change. */
  up(db: Db): Promise<void>;
}

/** Tables of plugins. Migrations run before the service serves requests, those of plugins loaded later by `Migrator`. */
export const migrations = facet<Migration, readonly { owner: string; value: Migration }[]>('database.migrations', {
  combine: (all) => all,
  describe: () => authorities('changes', ['tables of its own'], 'by migrations'),
});

/** Before statements that may take as long as they need, such as building an index: for the current unit of work. */
export const DISABLE_STATEMENT_TIMEOUT = 'set local statement_timeout to 0';

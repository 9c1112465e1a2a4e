import type { Knex } from 'knex';
import { facet, service } from '#kernel';
import type { Signal } from './cancel.ts';

export interface Result<Row = Record<string, unknown>> {
  readonly rows: Row[];
  /** Rows changed or returned. */
  readonly count: number;
}

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
  readonly signal?: Signal;
}

/**
 * `host.db`: the part of the database that a manifest grants. Every call runs on the connection of the current unit of
 * work, or on one of the pool's where none is open.
 */
export interface Db {
  /** A query builder on one granted table of the service's own (`own`, `read`, `write`). */
  table(name: string): Knex.QueryBuilder;
  /** Runs a statement of the caller's own making (`sql: true`). */
  query<Row = Record<string, unknown>>(
    text: string,
    params?: readonly unknown[],
    options?: StatementOptions,
  ): Promise<Result<Row>>;
  /**
   * The columns of the first row as texts, undefined without one (`sql: true`): for statements that answer JSON. Neither
   * names nor types are looked at, and no row object is made.
   */
  first(
    text: string,
    params?: readonly unknown[],
    options?: StatementOptions,
  ): Promise<readonly (string | null)[] | undefined>;
  /**
   * The rows of a statement of one text column (`sql: true`), in batches of about a quarter of a megabyte, through a cursor: the
   * next batch is fetched when it is asked for. Holds a connection from the first batch until the last one, or until
   * `return`; streams share half of the pool, and one that gets no turn within ten seconds fails with
   * SERVICE_UNAVAILABLE. Not inside a unit of work.
   */
  stream(
    text: string,
    params?: readonly unknown[],
    options?: Pick<StatementOptions, 'signal'>,
  ): AsyncGenerator<readonly string[], void, undefined>;
  /** Changes tables (`ddl: true`). */
  ddl(text: string): Promise<void>;
  /**
   * A unit of work: all statements of `work`, also those of services it calls, commit together or not at all. Inside
   * another unit it joins that one.
   */
  transaction<T>(work: () => Promise<T>): Promise<T>;
  /** Is a unit of work open? What is said in one needs no connection of its own. */
  isInside(): boolean;
  /**
   * The whole query builder: any table, statements of the caller's own making, changes of tables (`sql: true` and
   * `ddl: true`). Its transactions are units of work; inside an open one they are parts that may fail by themselves.
   */
  builder(): Knex;
  /** Runs `work` in the transaction that a builder of `builder()` stands for; where it stands for none, just so. */
  inside<T>(builder: unknown, work: () => Promise<T>): Promise<T>;
  /** Runs once the outermost unit of work has committed, at once where none is open, never after a rollback. */
  afterCommit(effect: () => void): void;
  /** Schemas served, the first one also holds the service's own tables. */
  readonly schemas: readonly string[];
}

declare module '#kernel' {
  interface HostMembers {
    readonly db: Db;
  }
}

/** What `cluster` needs to listen: a connection outside the pool that the caller keeps and ends. */
export interface Connections {
  dedicated(onLost: () => void): Promise<DedicatedConnection>;
}

export interface DedicatedConnection {
  query<Row = Record<string, unknown>>(text: string, params?: readonly unknown[]): Promise<Result<Row>>;
  onNotification(handle: (channel: string, payload: string) => void): void;
  end(): Promise<void>;
}

export const connections = service<Connections>('connections', { version: '1.0.0' });

/** One step of a plugin's own tables. Steps run once, in plugin order, under an advisory lock, each in a transaction. */
export interface Migration {
  /** Unique within the plugin and never changed again, for example `2026-11-21-users`. */
  readonly id: string;
  up(db: Pick<Db, 'query' | 'schemas'>): Promise<void>;
}

export const migrations = facet<Migration, readonly { owner: string; value: Migration }[]>('database.migrations', {
  combine: (all) => all,
  describe: () => ['prepares tables of its own'],
});

/** Before statements that may take as long as they need, such as building an index: for the current unit of work. */
export const WITHOUT_TIME_LIMIT = 'set local statement_timeout to 0';

/** Double-quoted, with quotes doubled: for names that come from the schema overview, never from input. */
export const identifier = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** Text as an SQL literal: for names from the overview, and for DDL, which takes no parameters. */
export function literal(text: string): string {
  const quoted = `'${text.replaceAll("'", "''")}'`;
  // Backslashes mean the same under every setting of standard_conforming_strings only in this form.
  return text.includes('\\') ? ` e${quoted.replaceAll('\\', '\\\\')}` : quoted;
}

/** A lost connection and a statement that took too long as SERVICE_UNAVAILABLE; any other error as it is. */
export { asUnavailable } from './lost.ts';

import { AsyncLocalStorage } from 'node:async_hooks';
import type { PgBoss } from 'pg-boss';
import { fail, type Log } from '#kernel';
import type { Db, DedicatedConnections } from '../database/contract.ts';
import { createJobDatabaseConnection, type JobDatabaseConnection } from './job-database-connection.ts';

/** The schema of the tables of pg-boss. Never changed: waiting jobs stand in it. */
export const JOB_SCHEMA = 'platform_queue';

/** Seconds between two looks for jobs whose process died or whose time is over. */
const SUPERVISE_INTERVAL = 10;

/**
 * Seconds without a heartbeat after which a running job counts as lost and runs again. Several times the interval of heartbeats, so
 * that a busy process keeps its jobs.
 */
export const JOB_HEARTBEAT_LIMIT = 30;

/** pg-boss has timers. They must not run in the unit of work of the request that started them. */
const runOutsideRequest = AsyncLocalStorage.snapshot();

/** The jobs in the database. Nothing is loaded, created or connected before the first job of the database is added. */
export interface JobStore {
  /** Whether the tables of the jobs exist, that is, whether any process has ever added one. */
  isInstalled(): Promise<boolean>;
  /**
   * Starts pg-boss, and creates its tables the first time.
   * @throws SERVICE_UNAVAILABLE where the database is not reached; INVALID_CONFIG where the tables may not be created.
   */
  open(): Promise<PgBoss>;
  /**
   * Runs a statement on the connection of pg-boss, after all that it has sent before.
   * @throws the errors of `open`, and those of PostgreSQL.
   */
  query<Row>(text: string, values: unknown[]): Promise<readonly Row[]>;
  /** Ends the runs of this process, waiting `limit` milliseconds for them, and closes the connection. */
  close(limit: number): Promise<void>;
}

interface Deps {
  readonly db: Pick<Db, 'query' | 'sql' | 'literal' | 'ownSchema'>;
  readonly connections: DedicatedConnections;
  readonly log: Log;
}

export function createJobStore({ db, connections, log }: Deps): JobStore {
  const schema = db.ownSchema();
  // Not plain text, which loads PostgreSQL's parser: every start asks this.
  const IS_INSTALLED = db.sql`select to_regclass(${db.literal(`${schema}.job`)}) is not null as found`;
  let opening: Promise<PgBoss> | undefined;
  let connection: JobDatabaseConnection | undefined;

  async function start(): Promise<PgBoss> {
    const createSchema = await needsSchema(db);
    const { PgBoss } = await import('pg-boss');
    connection = createJobDatabaseConnection(connections);
    const boss = new PgBoss({
      db: connection,
      schema,
      createSchema,
      schedule: false,
      superviseIntervalSeconds: SUPERVISE_INTERVAL,
      monitorIntervalSeconds: SUPERVISE_INTERVAL,
      registerInstance: false,
      // Both work on statistics of the whole server, which are the business of its admin.
      reindex: false,
      monitorVacuum: false,
    });
    // While the database is away each of its timers fails: one line a minute is enough.
    let nextLine = 0;
    boss.on('error', (error) => {
      if (Date.now() < nextLine) return;
      nextLine = Date.now() + 60_000;
      log.warn({ reason: error.message }, 'the queue of jobs does not reach the database');
    });
    boss.on('warning', ({ message }) => log.warn({ reason: message }, 'the queue of jobs is slow'));
    try {
      return await boss.start();
    } catch (error) {
      await boss.stop({ graceful: false }).catch(() => {});
      await connection.close();
      throw toStartFailure(error);
    }
  }

  function open(): Promise<PgBoss> {
    if (!opening) {
      opening = runOutsideRequest(start);
      opening.catch(() => {
        opening = undefined;
      });
    }
    return opening;
  }

  return {
    async isInstalled() {
      const { rows } = await db.query<{ found: boolean }>(IS_INSTALLED);
      return rows[0]?.found === true;
    },
    open,
    async query(text, values) {
      await open();
      return (await (connection as JobDatabaseConnection).executeSql(text, values)).rows;
    },
    async close(limit) {
      const boss = await opening?.catch(() => undefined);
      await boss?.stop({ graceful: true, timeout: limit });
      await connection?.close();
      opening = undefined;
    },
  };
}

/** A user without the right to create schemas may have been given the schema by an admin. */
async function needsSchema(db: Pick<Db, 'query'>): Promise<boolean> {
  const { rows } = await db.query<{ missing: boolean }>(`select to_regnamespace('${JOB_SCHEMA}') is null as missing`);
  return rows[0]?.missing !== false;
}

/** `42501` is missing rights, `3F000` a schema that another user has. */
function toStartFailure(error: unknown): unknown {
  const { code, message } = error as { code?: string; message?: string };
  if (code !== '42501') return error;
  return fail(
    'INVALID_CONFIG',
    `The tables of background jobs cannot be created (${message}): grant the database user "create" on the database, or create the ` +
      `schema ${JOB_SCHEMA} with this user as its owner.`,
  );
}

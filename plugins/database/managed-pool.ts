import { setTimeout as pause } from 'node:timers/promises';
import type { Client, Pool } from 'pg';
import { fail, type Log } from '#kernel';
import { RemediableError, toConnectError } from './connect-error-remedies.ts';
import { type ConnectionTarget, findConfiguredTarget } from './connection-target.ts';
import type { EmbeddedPostgresServer } from './embedded/server.ts';
import { createOutageLog } from './outage-log.ts';
import { connectOutsidePool, createPostgresDriverPool } from './pool.ts';
import { createPoolSlotSemaphore, type PoolSlotSemaphore } from './pool-slot-semaphore.ts';
import type { DatabaseConfig } from './settings.ts';
import type { AcquireConnection } from './unit-transaction.ts';

const OLDEST_VERSION = 140_000;
/** Milliseconds that `close` waits for connections in use. */
const POOL_END_TIMEOUT = 1500;

/** The pool of this process; it exists from `open` to `close`. */
export interface DatabaseConnectionPool {
  /** False where `open` would create the embedded database. */
  hasDatabase(): Promise<boolean>;
  /** Connects. A further call waits for the first one. */
  open(): Promise<void>;
  /** The database that is connected. @throws SERVICE_UNAVAILABLE before `open` */
  target(): ConnectionTarget;
  /** A connection of the pool, once the share may hold one more. @throws SERVICE_UNAVAILABLE */
  readonly acquire: AcquireConnection;
  connectOutsidePool(): Promise<Client>;
  /** `server_version_num` of PostgreSQL, such as 180004; 0 before `open`. */
  readonly version: number;
  readonly slots: Pick<PoolSlotSemaphore, 'held' | 'waiting' | 'longestWait' | 'refusedAt' | 'refusals'>;
  close(): Promise<void>;
}

async function hasDatabase(config: DatabaseConfig): Promise<boolean> {
  if (findConfiguredTarget(config)) return true;
  return (await import('./embedded/cluster-location.ts')).hasPostgresCluster(config.DATA_PATH);
}

export function createDatabaseConnectionPool(
  config: DatabaseConfig,
  schemas: readonly string[],
  log: Log,
): DatabaseConnectionPool {
  let active: { pool: Pool; target: ConnectionTarget; server?: EmbeddedPostgresServer } | undefined;
  const current = () => {
    if (!active) throw fail('SERVICE_UNAVAILABLE', 'The database is not connected.');
    return active;
  };

  const outage = createOutageLog(log);
  const max = config.DB_POOL_MAX;
  const slots = createPoolSlotSemaphore({
    limit: max,
    deadline: config.DB_POOL_WAIT_TIMEOUT,
    label: `connections of the pool (${max})`,
  });
  let opening: Promise<void> | undefined;
  let version = 0;

  async function open(): Promise<void> {
    const configured = findConfiguredTarget(config);
    const { target, server } = configured
      ? { target: configured, server: undefined }
      : await (await import('./embedded/server.ts')).openEmbeddedPostgresServer({ dataPath: config.DATA_PATH, log });
    // The last process that is connected to the embedded server keeps it running, so this process stays connected.
    const min = Math.max(config.DB_POOL_MIN, server ? 1 : 0);
    const pool = createPostgresDriverPool(target, {
      min,
      max,
      schemas,
      statementTimeout: config.DB_STATEMENT_TIMEOUT,
      log,
    });
    active = { pool, target, server };
    version = await checkServer(pool, schemas).catch((error) => {
      throw toConnectError(error, target.label);
    });
    log.info({ database: target.label, embedded: server !== undefined }, 'connected to the database');
  }

  return {
    hasDatabase: async () => active !== undefined || hasDatabase(config),
    open: () => (opening ??= open()),
    target: () => current().target,
    async acquire(share, signal) {
      const { pool } = current();
      const wait = slots.acquire(share, signal);
      if (wait) await wait;
      try {
        const client = await pool.connect();
        outage.recovered();
        return {
          client,
          release(broken) {
            client.release(broken);
            slots.release(share);
          },
        };
      } catch (error) {
        slots.release(share);
        outage.failed(error);
        throw fail('SERVICE_UNAVAILABLE', 'The database cannot be reached.');
      }
    },
    connectOutsidePool: () => connectOutsidePool(current().target, schemas),
    slots,
    get version() {
      return version;
    },
    async close() {
      // A `close` during `open` waits for it: otherwise a half-started server would stay behind.
      await opening?.catch(() => {});
      opening = undefined;
      const { pool, server } = active ?? {};
      active = undefined;
      // A connection that is still in use after the timeout does not keep the embedded server from being stopped.
      await Promise.race([pool?.end(), pause(POOL_END_TIMEOUT, undefined, { ref: false })]);
      await server?.stop();
    },
  };
}

async function checkServer(pool: Pool, schemas: readonly string[]): Promise<number> {
  const { rows } = await pool.query<{ version: number; name: string; missing: string[] }>(
    `select current_setting('server_version_num')::int as version, current_setting('server_version') as name,
      array(select wanted from unnest($1::text[]) wanted where to_regnamespace(quote_ident(wanted)) is null) as missing`,
    [schemas],
  );
  const { version, name, missing } = rows[0] ?? { version: 0, name: '', missing: [] };
  if (version < OLDEST_VERSION)
    throw new RemediableError(`the database is PostgreSQL ${name}; 14 or newer is needed`, 'upgrade the database');
  if (missing.length > 0) {
    throw new RemediableError(
      `there is no schema ${missing.join(', ')} in the database`,
      'create it, or correct DB_SCHEMAS',
    );
  }
  return version;
}

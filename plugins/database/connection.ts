import { setTimeout as pause } from 'node:timers/promises';
import type { Client, Pool } from 'pg';
import { fail, type Log } from '#kernel';
import { connectFailure, Remediable } from './connect-failure.ts';
import type { EmbeddedServer } from './embedded/server.ts';
import { createOutage } from './outage.ts';
import { createPlaces, type Places } from './places.ts';
import { connectAlone, createPool } from './pool.ts';
import type { DatabaseConfig } from './settings.ts';
import { configuredTarget, type Target } from './target.ts';
import type { Connect } from './unit.ts';

const OLDEST = 140_000;
/** Milliseconds that connections have to come back at the end. */
const GIVING_BACK = 1500;

/** The one connection of this process to its database: nothing before `open`, a pool after it, nothing after `close`. */
export interface Connection {
  open(): Promise<void>;
  /** A connection of the pool, once there is a place for this share of it. @throws SERVICE_UNAVAILABLE */
  readonly acquire: Connect;
  alone(): Promise<Client>;
  /** The server's; 0 before `open`. */
  readonly version: number;
  readonly places: Pick<Places, 'held' | 'waiting' | 'longestWait' | 'refusedAt'>;
  close(): Promise<void>;
}

export function createConnection(config: DatabaseConfig, schemas: readonly string[], log: Log): Connection {
  let opened: { pool: Pool; target: Target; server?: EmbeddedServer } | undefined;
  const current = () => {
    if (!opened) throw fail('SERVICE_UNAVAILABLE', 'The database is not connected.');
    return opened;
  };

  const outage = createOutage(log);
  const max = config.DB_POOL_MAX;
  const places = createPlaces({
    limit: max,
    deadline: config.DB_POOL_WAIT_TIMEOUT,
    called: `connections of the pool (${max})`,
  });
  let opening: Promise<void> | undefined;
  let version = 0;

  async function open(): Promise<void> {
    const configured = configuredTarget(config);
    const { target, server } = configured
      ? { target: configured, server: undefined }
      : await (await import('./embedded/server.ts')).embeddedServer({ dataPath: config.DATA_PATH, log });
    // The embedded server stays as long as anybody is connected to it, so we stay connected.
    const min = Math.max(config.DB_POOL_MIN, server ? 1 : 0);
    const pool = createPool(target, {
      min,
      max,
      schemas,
      statementTimeout: config.DB_STATEMENT_TIMEOUT,
      log,
    });
    opened = { pool, target, server };
    version = await check(pool, schemas).catch((error) => {
      throw connectFailure(error, target.called);
    });
    log.info({ database: target.called, embedded: server !== undefined }, 'connected to the database');
  }

  return {
    open() {
      opening = open();
      return opening;
    },
    async acquire(share, signal) {
      const { pool } = current();
      const turn = places.enter(share, signal);
      if (turn) await turn;
      try {
        const client = await pool.connect();
        outage.reached();
        return {
          client,
          release(broken) {
            client.release(broken);
            places.leave(share);
          },
        };
      } catch (error) {
        places.leave(share);
        outage.failed(error);
        throw fail('SERVICE_UNAVAILABLE', 'The database cannot be reached.');
      }
    },
    alone: () => connectAlone(current().target, schemas),
    places,
    get version() {
      return version;
    },
    async close() {
      // Told to stop while it starts, it finishes starting: a server half started would be left behind.
      await opening?.catch(() => {});
      const { pool, server } = opened ?? {};
      opened = undefined;
      // Who has not given a connection back by now never will: a server of our own is stopped all the same.
      await Promise.race([pool?.end(), pause(GIVING_BACK, undefined, { ref: false })]);
      await server?.stop();
    },
  };
}

async function check(pool: Pool, schemas: readonly string[]): Promise<number> {
  const { rows } = await pool.query<{ version: number; name: string; missing: string[] }>(
    `select current_setting('server_version_num')::int as version, current_setting('server_version') as name,
      array(select wanted from unnest($1::text[]) wanted where to_regnamespace(quote_ident(wanted)) is null) as missing`,
    [schemas],
  );
  const { version, name, missing } = rows[0] ?? { version: 0, name: '', missing: [] };
  if (version < OLDEST)
    throw new Remediable(`the database is PostgreSQL ${name}; 14 or newer is needed`, 'upgrade the database');
  if (missing.length > 0) {
    throw new Remediable(
      `there is no schema ${missing.join(', ')} in the database`,
      'create it, or correct DB_SCHEMAS',
    );
  }
  return version;
}

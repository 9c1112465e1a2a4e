import type { Socket } from 'node:net';
import pg from 'pg';
import type { Log } from '#kernel';
import type { ConnectionTarget } from './connection-target.ts';
import { quoteIdentifier } from './library.ts';

/**
 * Milliseconds to connect, and as many for the first statement, so that a server that does not answer blocks no slot of
 * the pool.
 */
const CONNECT_TIMEOUT = 10_000;

export interface PoolOptions {
  readonly min: number;
  readonly max: number;
  readonly schemas: readonly string[];
  /** The statement timeout in milliseconds; 0 is no limit. Migrations and DDL lift it. */
  readonly statementTimeout: number;
  readonly log: Log;
}

/**
 * The settings of every session. JIT compilation is off: it pays off for statements that run for seconds, and costs
 * short statements tens of milliseconds where the planner overestimates them.
 */
export const renderDatabaseSessionSettings = (schemas: readonly string[]): string =>
  `set timezone to 'UTC'; set datestyle to 'ISO'; set jit to off; set search_path to ${schemas.map(quoteIdentifier).join(', ')}`;

/** Creates the pool. The driver's default types stay: bigint and numeric are strings and lose no digits. */
export function createPostgresDriverPool(
  target: ConnectionTarget,
  { min, max, schemas, statementTimeout, log }: PoolOptions,
): pg.Pool {
  const settings = `${renderDatabaseSessionSettings(schemas)}; set statement_timeout to ${statementTimeout}`;
  const pool = new pg.Pool({
    ...target.client,
    min,
    max,
    connectionTimeoutMillis: CONNECT_TIMEOUT,
    idleTimeoutMillis: 60_000,
    onConnect: async (client) => {
      // Without an error listener, a client that breaks while it is checked out would end the process.
      client.on('error', () => {});
      closeOnReceiveError(client);
      await prepareSession(client, settings);
    },
  });
  pool.on('error', (error) => log.warn({ reason: error.message }, 'an idle connection to the database was lost'));
  return pool;
}

/**
 * A value longer than the longest string of V8 (half a gigabyte) throws inside the driver's data listener, where no
 * caller can catch it, and would end the process. This closes the connection instead, so that only the statement fails.
 */
function closeOnReceiveError(client: pg.ClientBase): void {
  const { stream } = (client as unknown as { connection: { stream: Socket } }).connection;
  for (const listener of stream.listeners('data')) {
    stream.on('data', (part: Buffer) => {
      try {
        listener.call(stream, part);
      } catch (error) {
        stream.destroy(error as Error);
      }
    });
    stream.off('data', listener as (part: Buffer) => void);
  }
}

/** Runs the session settings under a time limit. The types of pg do not declare `query_timeout`. */
const prepareSession = (client: pg.ClientBase, text: string): Promise<unknown> =>
  client.query({ text, query_timeout: CONNECT_TIMEOUT } as pg.QueryConfig);

/** A connection outside the pool, with the same session settings. */
export async function connectOutsidePool(target: ConnectionTarget, schemas: readonly string[]): Promise<pg.Client> {
  const client = new pg.Client({ ...target.client, connectionTimeoutMillis: CONNECT_TIMEOUT });
  client.on('error', () => {});
  try {
    await client.connect();
    await prepareSession(client, renderDatabaseSessionSettings(schemas));
  } catch (error) {
    await client.end().catch(() => {});
    throw error;
  }
  return client;
}

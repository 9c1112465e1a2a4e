import type { Socket } from 'node:net';
import pg from 'pg';
import type { Log } from '#kernel';
import { identifier } from './library.ts';
import type { ConnectionTarget } from './target.ts';

/** Milliseconds for a connection, and as many for what each begins with: a server that says nothing keeps no place in the pool. */
const CONNECT_TIMEOUT = 10_000;

export interface PoolOptions {
  readonly min: number;
  readonly max: number;
  readonly schemas: readonly string[];
  /** Milliseconds one statement may take; 0 is no limit. What prepares or changes tables lifts it for itself. */
  readonly statementTimeout: number;
  readonly log: Log;
}

/**
 * What every session starts with. Just-in-time compilation is off: it pays for statements that run for seconds, and
 * costs tens of milliseconds on those of an API as soon as the planner overestimates them.
 */
export const renderSessionSettings = (schemas: readonly string[]): string =>
  `set timezone to 'UTC'; set datestyle to 'ISO'; set jit to off; set search_path to ${schemas.map(identifier).join(', ')}`;

/** Connections under use; types stay as the driver reads them, so that bigint and numeric are strings and lose nothing. */
export function createPool(
  target: ConnectionTarget,
  { min, max, schemas, statementTimeout, log }: PoolOptions,
): pg.Pool {
  const settings = `${renderSessionSettings(schemas)}; set statement_timeout to ${statementTimeout}`;
  const pool = new pg.Pool({
    ...target.client,
    min,
    max,
    connectionTimeoutMillis: CONNECT_TIMEOUT,
    idleTimeoutMillis: 60_000,
    onConnect: async (client) => {
      // Without a listener of its own a client that breaks while it is checked out would end the process.
      client.on('error', () => {});
      closeOnReceiveError(client);
      await prepareSession(client, settings);
    },
  });
  pool.on('error', (error) => log.warn({ reason: error.message }, 'an idle connection to the database was lost'));
  return pool;
}

/**
 * A value longer than this platform's longest string throws inside the driver's listener, where nobody can catch it: one
 * answer of half a gigabyte would end the process. It ends its own connection instead, and with it the statement fails.
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

/** The types of the driver do not know the limit, which it has. */
const prepareSession = (client: pg.ClientBase, text: string): Promise<unknown> =>
  client.query({ text, query_timeout: CONNECT_TIMEOUT } as pg.QueryConfig);

/** A connection outside the pool, with the same session. */
export async function connectOutsidePool(target: ConnectionTarget, schemas: readonly string[]): Promise<pg.Client> {
  const client = new pg.Client({ ...target.client, connectionTimeoutMillis: CONNECT_TIMEOUT });
  client.on('error', () => {});
  try {
    await client.connect();
    await prepareSession(client, renderSessionSettings(schemas));
  } catch (error) {
    await client.end().catch(() => {});
    throw error;
  }
  return client;
}

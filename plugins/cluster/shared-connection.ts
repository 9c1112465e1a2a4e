import { fail, type Log } from '#kernel';
import type { DedicatedConnection, DedicatedConnections } from '../database/contract.ts';

const FIRST_WAIT = 100;
const LONGEST_WAIT = 5000;

interface Deps {
  readonly connections: DedicatedConnections;
  readonly log: Log;
}

/** One connection outside of the pool for LISTEN and for session locks. */
export interface ListenAndLockConnection {
  /** @throws SERVICE_UNAVAILABLE while the connection is lost. */
  current(): DedicatedConnection;
  /** Runs `prepare` on every new connection before `current` returns it. */
  onConnect(prepare: (connection: DedicatedConnection) => Promise<void>): void;
  /** Calls `handle` when the connection breaks. */
  onLost(handle: () => void): void;
  /** Calls `handle` when the connection is back. */
  onReconnect(handle: () => void): void;
  connect(): Promise<void>;
  stop(): Promise<void>;
}

/** Reconnects when the connection breaks, until the service stops. */
export function createListenAndLockConnection({ connections, log }: Deps): ListenAndLockConnection {
  const preparations: ((connection: DedicatedConnection) => Promise<void>)[] = [];
  const reconnectHandlers: (() => void)[] = [];
  const lostHandlers: (() => void)[] = [];
  let connection: DedicatedConnection | undefined;
  let retry: NodeJS.Timeout | undefined;
  let stopped = false;

  async function connect(): Promise<void> {
    let lost = false;
    const fresh = await connections.openDedicated(() => {
      lost = true;
      connection = undefined;
      log.warn('the database connection for messages between processes was lost: reconnecting');
      for (const handle of lostHandlers) handle();
      reconnect(FIRST_WAIT);
    });
    try {
      for (const prepare of preparations) await prepare(fresh);
    } catch (error) {
      await fresh.end().catch(() => {});
      throw error;
    }
    if (stopped) await fresh.end();
    else if (!lost) connection = fresh;
  }

  function reconnect(wait: number): void {
    if (stopped) return;
    // A connection that breaks while it is opened reports the loss twice.
    clearTimeout(retry);
    retry = setTimeout(() => {
      connect().then(
        () => {
          if (stopped) return;
          log.info('the database connection for messages between processes is back');
          for (const handle of reconnectHandlers) handle();
        },
        () => reconnect(Math.min(wait * 2, LONGEST_WAIT)),
      );
    }, wait);
  }

  return {
    current() {
      if (!connection)
        throw fail('SERVICE_UNAVAILABLE', 'the database connection for messages between processes is lost: try again');
      return connection;
    },
    onConnect: (prepare) => void preparations.push(prepare),
    onLost: (handle) => void lostHandlers.push(handle),
    onReconnect: (handle) => void reconnectHandlers.push(handle),
    connect,
    async stop() {
      stopped = true;
      clearTimeout(retry);
      await connection?.end();
    },
  };
}

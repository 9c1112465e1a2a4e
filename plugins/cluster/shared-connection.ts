import { fail, type Log } from '#kernel';
import type { Connections, DedicatedConnection } from '../database/contract.ts';

const FIRST_WAIT = 100;
const LONGEST_WAIT = 5000;

interface Deps {
  readonly connections: Connections;
  readonly log: Log;
}

/** One connection outside the pool for all that has to hold on to one: what is listened to, and locks. */
export interface SharedConnection {
  /** SERVICE_UNAVAILABLE while it is lost. */
  current(): DedicatedConnection;
  /** Run on every new connection before anybody is given it; `again` from the second one on. */
  onConnect(prepare: (connection: DedicatedConnection) => Promise<void>): void;
  /** Called when it breaks. */
  onLost(handle: () => void): void;
  /** Called when it is back. */
  onReconnect(handle: () => void): void;
  connect(): Promise<void>;
  stop(): Promise<void>;
}

/** Made anew when it breaks, until the service stops. */
export function createSharedConnection({ connections, log }: Deps): SharedConnection {
  const preparations: ((connection: DedicatedConnection) => Promise<void>)[] = [];
  const reconnectHandlers: (() => void)[] = [];
  const lostHandlers: (() => void)[] = [];
  let connection: DedicatedConnection | undefined;
  let retry: NodeJS.Timeout | undefined;
  let stopped = false;

  async function connect(): Promise<void> {
    let lost = false;
    const fresh = await connections.dedicated(() => {
      lost = true;
      connection = undefined;
      log.warn('the connection to the other processes was lost');
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
    // A connection that breaks while it is being made says so twice.
    clearTimeout(retry);
    retry = setTimeout(() => {
      connect().then(
        () => {
          if (stopped) return;
          log.info('the connection to the other processes is back');
          for (const handle of reconnectHandlers) handle();
        },
        () => reconnect(Math.min(wait * 2, LONGEST_WAIT)),
      );
    }, wait);
  }

  return {
    current() {
      if (!connection) throw fail('SERVICE_UNAVAILABLE', 'the connection to the other processes is lost');
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

import { fail, type Log } from '#kernel';
import type { Connections, Db, DedicatedConnection } from '../database/contract.ts';
import { type Bus, messageText, NOTIFY_CHANNEL } from './contract.ts';

const MAX_BYTES = 7168;
const FIRST_WAIT = 100;
const LONGEST_WAIT = 5000;

interface Deps {
  readonly db: Pick<Db, 'query'>;
  readonly connections: Connections;
  readonly log: Log;
}

export interface ListeningBus extends Bus {
  listen(): Promise<void>;
  stop(): Promise<void>;
}

/** LISTEN and NOTIFY of PostgreSQL: a message sent in a unit of work leaves when it commits, and not at all otherwise. */
export function createBus({ db, connections, log }: Deps): ListeningBus {
  const handlers = new Map<string, ((payload: unknown) => void)[]>();
  const gaps: (() => void)[] = [];
  let connection: DedicatedConnection | undefined;
  let retry: NodeJS.Timeout | undefined;
  let stopped = false;

  function receive(text: string): void {
    let message: { channel: string; payload: unknown };
    try {
      message = JSON.parse(text);
    } catch {
      log.warn('a message on the bus is not JSON: somebody else uses its channel');
      return;
    }
    for (const handle of handlers.get(message.channel) ?? []) guarded(() => handle(message.payload));
  }

  function guarded(handle: () => void): void {
    try {
      handle();
    } catch (error) {
      log.error({ err: error }, 'a receiver of the bus failed');
    }
  }

  async function listen(): Promise<void> {
    const fresh = await connections.dedicated(() => {
      log.warn('the connection of the bus was lost');
      reconnect(FIRST_WAIT);
    });
    fresh.onNotification((channel, payload) => {
      if (channel === NOTIFY_CHANNEL) receive(payload);
    });
    connection = fresh;
    await fresh.query(`listen ${NOTIFY_CHANNEL}`);
  }

  function reconnect(wait: number): void {
    if (stopped) return;
    // A connection that breaks while it is being made says so twice.
    clearTimeout(retry);
    retry = setTimeout(() => {
      listen().then(
        () => {
          if (stopped) return void connection?.end();
          log.info('the bus is connected again');
          for (const handle of gaps) guarded(handle);
        },
        () => reconnect(Math.min(wait * 2, LONGEST_WAIT)),
      );
    }, wait);
  }

  return {
    async publish(channel, payload) {
      const text = messageText(channel, payload);
      if (Buffer.byteLength(text) > MAX_BYTES)
        throw fail('INTERNAL_SERVER_ERROR', `a message on ${channel} is larger than ${MAX_BYTES} bytes`);
      await db.query(`select pg_notify('${NOTIFY_CHANNEL}', $1)`, [text], { name: 'platform_bus_notify' });
    },
    subscribe(channel, handle) {
      handlers.set(channel, [...(handlers.get(channel) ?? []), handle]);
    },
    onGap: (handle) => void gaps.push(handle),
    listen,
    async stop() {
      stopped = true;
      clearTimeout(retry);
      await connection?.end();
    },
  };
}

import { fail, type Log } from '#kernel';
import type { Db } from '../database/contract.ts';
import type { InterProcessBus } from './contract.ts';
import { NOTIFY_CHANNEL, renderBusMessage } from './notify-sql.ts';
import type { ListenAndLockConnection } from './shared-connection.ts';

const MAX_BYTES = 7168;

interface Deps {
  readonly db: Pick<Db, 'query' | 'sql' | 'literal'>;
  readonly shared: Pick<ListenAndLockConnection, 'onConnect' | 'onLost' | 'onReconnect'>;
  readonly log: Log;
}

/** LISTEN and NOTIFY of PostgreSQL: a message sent in a unit of work leaves when it commits, and not at all otherwise. */
export function createInterProcessBus({ db, shared, log }: Deps): Omit<InterProcessBus, 'waitForConfirmation'> {
  const NOTIFY = db.sql`select pg_notify(${db.literal(NOTIFY_CHANNEL)}, $1)`;
  const handlers = new Map<string, ((payload: unknown) => void)[]>();
  const lossHandlers: (() => void)[] = [];
  const reconnectHandlers: (() => void)[] = [];

  function receive(text: string): void {
    let message: { channel: string; payload: unknown };
    try {
      message = JSON.parse(text);
    } catch {
      log.warn('a message on the channel platform_bus is not JSON: check which other database client uses the channel');
      return;
    }
    for (const handle of handlers.get(message.channel) ?? []) callSafely(() => handle(message.payload));
  }

  function callSafely(handle: () => void): void {
    try {
      handle();
    } catch (error) {
      log.error({ err: error }, 'a subscriber of the bus failed');
    }
  }

  shared.onConnect(async (connection) => {
    connection.onNotification((channel, payload) => {
      if (channel === NOTIFY_CHANNEL) receive(payload);
    });
    await connection.query(`listen ${NOTIFY_CHANNEL}`);
  });
  shared.onLost(() => {
    for (const handle of lossHandlers) callSafely(handle);
  });
  shared.onReconnect(() => {
    for (const handle of reconnectHandlers) callSafely(handle);
  });

  return {
    async publish(channel, payload) {
      const text = renderBusMessage(channel, payload);
      if (Buffer.byteLength(text) > MAX_BYTES)
        throw fail('INTERNAL_SERVER_ERROR', `a message on ${channel} is larger than ${MAX_BYTES} bytes`);
      await db.query(NOTIFY, [text], { name: 'platform_bus_notify' });
    },
    subscribe(channel, handle) {
      handlers.set(channel, [...(handlers.get(channel) ?? []), handle]);
    },
    onLost: (handle) => void lossHandlers.push(handle),
    onReconnect: (handle) => void reconnectHandlers.push(handle),
  };
}

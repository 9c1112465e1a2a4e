import type { Client } from 'pg';
import type { Connections } from './contract.ts';

/** Connections outside the pool for callers who keep them: locks, listeners. */
export const dedicatedConnections = (connect: () => Promise<Client>): Connections => ({
  async dedicated(onLost) {
    const client = await connect();
    let wanted = true;
    client.once('end', () => {
      if (wanted) onLost();
      wanted = false;
    });
    // One statement at a time: the driver's own queue is going away.
    let before: Promise<unknown> = Promise.resolve();
    return {
      async query(text, params = []) {
        const mine = before.then(() => client.query(text, params as unknown[]));
        before = mine.catch(() => {});
        const { rows, rowCount } = await mine;
        return { rows, count: rowCount ?? 0 };
      },
      onNotification(handle) {
        client.on('notification', ({ channel, payload }) => handle(channel, payload ?? ''));
      },
      async end() {
        wanted = false;
        await client.end();
      },
    };
  },
});

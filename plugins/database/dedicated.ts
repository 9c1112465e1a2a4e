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
    return {
      async query(text, params = []) {
        const { rows, rowCount } = await client.query(text, params as unknown[]);
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

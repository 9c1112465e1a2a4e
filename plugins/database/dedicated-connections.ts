import type { Client } from 'pg';
import type { DedicatedConnections } from './contract.ts';

/** Opens connections outside the pool for locks and listeners. `beforeMigrations`: keeps work until the start. */
export const createDedicatedConnections = (
  connect: () => Promise<Client>,
  beforeMigrations: DedicatedConnections['beforeMigrations'],
): DedicatedConnections => ({
  beforeMigrations,
  async openDedicated(onLost) {
    const client = await connect();
    let isOpen = true;
    client.once('end', () => {
      if (isOpen) onLost();
      isOpen = false;
    });
    // Runs one statement at a time, since a later version of the driver pg will not queue statements itself.
    let previous: Promise<unknown> = Promise.resolve();
    return {
      async query(text, params = []) {
        const current = previous.then(() => client.query(text, params as unknown[]));
        previous = current.catch(() => {});
        // A text of several statements has a list of results, which the types of pg do not declare.
        const results = [await current].flat();
        return {
          rows: results.flatMap(({ rows }) => rows),
          count: results.reduce((sum, { rowCount }) => sum + (rowCount ?? 0), 0),
        };
      },
      onNotification(handle) {
        client.on('notification', ({ channel, payload }) => handle(channel, payload ?? ''));
      },
      async end() {
        isOpen = false;
        await client.end();
      },
    };
  },
});

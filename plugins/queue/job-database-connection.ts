import type { DedicatedConnection, DedicatedConnections } from '../database/contract.ts';

/** The rows of a statement, as pg-boss takes them. */
interface StatementRows {
  // biome-ignore lint/suspicious/noExplicitAny: the type that pg-boss declares
  readonly rows: any[];
}

/** The connection on which pg-boss fetches and settles jobs. */
export interface JobDatabaseConnection {
  executeSql(text: string, values?: unknown[]): Promise<StatementRows>;
  /** Closes the connection after the running statement. */
  close(): Promise<void>;
}

/**
 * Creates a connection outside of the pool that opens with its first statement, runs one statement at a time, and opens again after it
 * was lost. A connection whose statement failed is closed as well: pg-boss sends whole transactions as one text, and a failed one would
 * fail every later statement of its session.
 */
export function createJobDatabaseConnection(connections: DedicatedConnections): JobDatabaseConnection {
  let current: DedicatedConnection | undefined;
  let previous: Promise<unknown> = Promise.resolve();
  let closed = false;

  async function execute(text: string, values: unknown[] = []): Promise<StatementRows> {
    if (closed) throw new Error('The connection of the queue is closed.');
    let connection = current;
    if (!connection) {
      connection = await connections.openDedicated(() => {
        if (current === connection) current = undefined;
      });
      current = connection;
    }
    try {
      return { rows: (await connection.query(text, values)).rows };
    } catch (error) {
      if (current === connection) current = undefined;
      await connection.end().catch(() => {});
      throw error;
    }
  }

  return {
    executeSql(text, values) {
      const running = previous.then(() => execute(text, values));
      previous = running.catch(() => {});
      return running;
    },
    async close() {
      await previous;
      closed = true;
      await current?.end().catch(() => {});
      current = undefined;
    },
  };
}

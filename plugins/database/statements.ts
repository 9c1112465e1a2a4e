import type { PoolClient } from 'pg';
import { cancellable, type Signal } from './cancel.ts';
import type { Result, StatementOptions } from './contract.ts';
import type { Lease, Units } from './unit-of-work.ts';

export interface Statements {
  query<Row = Record<string, unknown>>(
    text: string,
    params?: readonly unknown[],
    options?: StatementOptions,
  ): Promise<Result<Row>>;
}

/** The server keeps a prepared statement as long as its connection: callers who vary names must not fill its memory. */
const MAX_NAMES = 500;

export function createStatements(units: Units): Statements {
  const prepared = new WeakMap<PoolClient, Set<string>>();
  /** How often the plan behind a name has gone out of date. */
  const editions = new Map<string, number>();

  const isFull = ({ client, inUnit }: Lease, name: string): boolean => {
    const names = prepared.get(client) ?? new Set();
    prepared.set(client, names.add(name));
    return !inUnit && names.size > MAX_NAMES;
  };

  async function run(
    lease: Lease,
    text: string,
    values: unknown[],
    name?: string,
    signal?: Signal,
  ): Promise<Result<never>> {
    let full = false;
    let failed: unknown;
    const { client } = lease;
    const query = () => client.query(name === undefined ? { text, values } : { text, values, name });
    try {
      const { rows, rowCount } = await (signal && !lease.inUnit ? cancellable(client, signal, query) : query());
      if (name !== undefined) full = isFull(lease, name);
      return { rows: rows as never[], count: rowCount ?? 0 };
    } catch (error) {
      failed = error;
      throw error;
    } finally {
      lease.release(full, failed);
    }
  }

  return {
    async query<Row>(
      text: string,
      params: readonly unknown[] = [],
      { name, last, signal }: StatementOptions = {},
    ): Promise<Result<Row>> {
      const values = params as unknown[];
      const lease = await units.lease(last);
      if (name === undefined) return run(lease, text, values, undefined, signal);
      const edition = editions.get(name) ?? 0;
      try {
        return await run(lease, text, values, nameOf(name, edition), signal);
      } catch (error) {
        if (!isOutdatedPlan(error)) throw error;
        // Somebody altered a table of the statement. Inside a transaction nothing more can run; the next one will do.
        editions.set(name, edition + 1);
        if (lease.inUnit) throw error;
      }
      return run(await units.lease(last), text, values, nameOf(name, edition + 1), signal);
    },
  };
}

const nameOf = (name: string, edition: number) => (edition === 0 ? name : `${name}_${edition}`);

const isOutdatedPlan = (error: unknown): boolean => {
  const { code, message } = error as { code?: string; message?: string };
  return code === '0A000' && message?.includes('cached plan') === true;
};

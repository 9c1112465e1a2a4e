import type { PoolClient } from 'pg';
import { type AbortSignalOrFactory, runCancellable } from './cancel.ts';
import { toUnavailableOnDatabaseOutage } from './connection-errors.ts';
import type { PoolShareHolder, QueryResult, StatementOptions } from './contract.ts';
import { queryFirstRow, type TextRow } from './first-row-query.ts';
import type { ConnectionLease, UnitsOfWork } from './unit-of-work.ts';

export interface LeasedConnectionStatementRunner {
  query<Row = Record<string, unknown>>(
    text: string,
    params?: readonly unknown[],
    options?: StatementOptions,
    defaultShare?: PoolShareHolder,
  ): Promise<QueryResult<Row>>;
  /** Answers the first row as texts. `defaultShare`: the share of the pool where the options have none. */
  first(
    text: string,
    params?: readonly unknown[],
    options?: StatementOptions,
    defaultShare?: PoolShareHolder,
  ): Promise<TextRow | undefined>;
}

/** Sends a statement, prepared under `name` where there is one. */
type Send<T> = (client: PoolClient, text: string, values: unknown[], name: string | undefined) => Promise<T>;

/**
 * Maximum prepared statements of a connection. PostgreSQL keeps a prepared statement as long as its connection; a connection with
 * more names is closed, to free its memory.
 */
const MAX_NAMES = 500;

export function createLeasedConnectionStatementRunner(units: UnitsOfWork): LeasedConnectionStatementRunner {
  const prepared = new WeakMap<PoolClient, Set<string>>();
  /** How often the plan of each prepared statement was outdated, by name: the statement gets a new name for each version. */
  const planVersions = new Map<string, number>();

  const hasTooManyNames = ({ client, inUnit }: ConnectionLease, name: string): boolean => {
    let names = prepared.get(client);
    if (!names) {
      names = new Set();
      prepared.set(client, names);
    }
    names.add(name);
    return !inUnit && names.size > MAX_NAMES;
  };

  async function run<T>(
    send: Send<T>,
    lease: ConnectionLease,
    text: string,
    values: unknown[],
    name?: string,
    signal?: AbortSignalOrFactory,
  ): Promise<T> {
    let isFull = false;
    let failure: unknown;
    const { client } = lease;
    try {
      const cancelSignal = lease.signal ?? (lease.inUnit ? undefined : signal);
      const result = await (cancelSignal
        ? runCancellable(client, cancelSignal, () => send(client, text, values, name))
        : send(client, text, values, name));
      if (name !== undefined) isFull = hasTooManyNames(lease, name);
      return result;
    } catch (error) {
      failure = error;
      throw toUnavailableOnDatabaseOutage(error);
    } finally {
      lease.release(isFull, failure);
    }
  }

  /**
   * Runs `send` on the connection of the unit of work or of the pool, and once more where the cached plan was outdated.
   */
  async function runWithRetry<T>(
    send: Send<T>,
    text: string,
    params: readonly unknown[],
    { name, last, signal, share }: StatementOptions,
    defaultShare: PoolShareHolder | undefined,
  ): Promise<T> {
    const values = params as unknown[];
    const lease = await units.lease(last, share ?? defaultShare, signal);
    if (name === undefined) return run(send, lease, text, values, undefined, signal);
    const planVersion = planVersions.get(name) ?? 0;
    try {
      return await run(send, lease, text, values, preparedName(name, planVersion), signal);
    } catch (error) {
      if (!isOutdatedPlan(error)) throw error;
      // A table of the statement was altered. The open transaction has failed; the next one prepares the statement
      // anew.
      planVersions.set(name, planVersion + 1);
      if (lease.inUnit) throw error;
    }
    const next = await units.lease(last, share ?? defaultShare, signal);
    return run(send, next, text, values, preparedName(name, planVersion + 1), signal);
  }

  return {
    query: (text, params = [], options = NO_OPTIONS, defaultShare) =>
      runWithRetry<QueryResult<never>>(sendQuery, text, params, options, defaultShare),
    first: (text, params = [], options = NO_OPTIONS, defaultShare) =>
      runWithRetry(queryFirstRow, text, params, options, defaultShare),
  };
}

const NO_OPTIONS: StatementOptions = {};

const sendQuery: Send<QueryResult<never>> = async (client, text, values, name) => {
  const { rows, rowCount } = await client.query(name === undefined ? { text, values } : { text, values, name });
  return { rows: rows as never[], count: rowCount ?? 0 };
};

const preparedName = (name: string, planVersion: number) => (planVersion === 0 ? name : `${name}_${planVersion}`);

const isOutdatedPlan = (error: unknown): boolean => {
  const { code, message } = error as { code?: string; message?: string };
  return code === '0A000' && message?.includes('cached plan') === true;
};

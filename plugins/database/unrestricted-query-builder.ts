import { AsyncLocalStorage } from 'node:async_hooks';
import { createRequire } from 'node:module';
import type { Knex } from 'knex';
import type { ConnectionLease, UnitsOfWork } from './unit-of-work.ts';

/** Runs `work` in the unit of work that a builder belongs to. */
type RunInUnit = <T>(work: () => T) => T;
type Container = (trx: Knex.Transaction) => unknown;

interface TransactionConfig {
  readonly isolationLevel?: string;
  readonly readOnly?: boolean;
  readonly doNotRejectOnRollback?: boolean;
}

interface KnexClient {
  readonly runInUnit: RunInUnit;
  transacting?: true;
  completed?: true;
  /** Nested transactions of one transaction run one after the other. */
  previousPart: Promise<unknown>;
}
type ClientClass = new (runInUnit: RunInUnit) => KnexClient;

export interface UnrestrictedKnexProvider {
  /** The full Knex API, on the connection of the current unit of work; its transactions are units of work. */
  builder(): Knex;
  /** Runs `work` in the transaction that a Knex object belongs to, or without one. */
  runInTransaction<T>(builder: unknown, work: () => Promise<T>): Promise<T>;
}

const ISOLATION_LEVELS: readonly string[] = ['read uncommitted', 'read committed', 'repeatable read', 'serializable'];

class RollbackError extends Error {
  readonly reason: unknown;
  constructor(reason: unknown) {
    super('the transaction was rolled back');
    this.reason = reason;
  }
}

/** Knex is loaded with the first call of `builder`. */
export function createUnrestrictedKnexProvider(units: UnitsOfWork): UnrestrictedKnexProvider {
  let loaded: { knex: Knex; Client: ClientClass } | undefined;
  return {
    builder() {
      loaded ??= createKnex(units);
      return loaded.knex;
    },
    runInTransaction(builder, work) {
      const client = (builder as { client?: unknown } | undefined)?.client;
      if (!loaded || !(client instanceof loaded.Client)) return work();
      return client.completed ? Promise.reject(new Error('the transaction is complete')) : client.runInUnit(work);
    },
  };
}

function createKnex(units: UnitsOfWork): { knex: Knex; Client: ClientClass } {
  const load = createRequire(import.meta.url);
  const Dialect = load('knex/lib/dialects/postgres/index.js') as new (config: object) => object;
  const makeKnex = load('knex/lib/knex-builder/make-knex.js') as (client: KnexClient) => Knex;
  const leases = new WeakMap<object, ConnectionLease>();

  class UnitClient extends Dialect implements KnexClient {
    readonly runInUnit: RunInUnit;
    declare transacting?: true;
    declare completed?: true;
    previousPart: Promise<unknown> = Promise.resolve();

    constructor(runInUnit: RunInUnit) {
      // Error messages hold no parameter values.
      super({ client: 'pg', compileSqlOnError: false });
      this.runInUnit = runInUnit;
    }

    async acquireConnection(): Promise<object> {
      if (this.completed) throw new Error('the transaction is complete');
      const lease = await this.runInUnit(() => units.lease());
      leases.set(lease.client, lease);
      return lease.client;
    }

    async releaseConnection(connection: object): Promise<void> {
      const lease = leases.get(connection);
      leases.delete(connection);
      lease?.release();
    }

    transaction(container: Container, config: TransactionConfig = {}): Promise<unknown> {
      const run = () => this.runInUnit(() => transact(units, open, container, config));
      if (!this.transacting) return run();
      const result = this.previousPart.then(run);
      this.previousPart = result.catch(() => {});
      return result;
    }

    /** Does nothing: the pool belongs to the service. */
    async destroy(): Promise<void> {}
  }

  const open = (): OpenTransaction => {
    const client = new UnitClient(AsyncLocalStorage.snapshot());
    client.transacting = true;
    return { client, trx: makeKnex(client) as Knex.Transaction };
  };

  return { knex: makeKnex(new UnitClient((work) => work())), Client: UnitClient };
}

/** A Knex transaction with its client. */
interface OpenTransaction {
  readonly client: KnexClient;
  readonly trx: Knex.Transaction;
}

/** Runs a unit of work, or a savepoint of the open one, until its transaction is committed or rolled back. */
function transact(
  units: UnitsOfWork,
  open: () => OpenTransaction,
  container: Container,
  config: TransactionConfig,
): Promise<unknown> {
  const outcome = Promise.withResolvers<unknown>();
  const settled: Promise<unknown> = units
    .runPart(async () => {
      const { client, trx } = open();
      await setMode(trx, config);
      const settle = () => {
        client.completed = true;
        return settled.then(
          () => undefined,
          () => undefined,
        );
      };
      Object.assign(trx, {
        isTransaction: true,
        executionPromise: settled,
        isCompleted: () => client.completed === true,
        savepoint: (inner: Container, more?: TransactionConfig) => trx.transaction(inner as never, more as never),
        commit(value?: unknown) {
          outcome.resolve(value);
          client.completed = true;
          return settled.then(() => undefined);
        },
        rollback(reason?: unknown) {
          outcome.reject(new RollbackError(reason));
          return settle();
        },
      });
      runContainer(container, trx);
      return outcome.promise;
    })
    .catch((error) => {
      if (!(error instanceof RollbackError)) throw error;
      if (error.reason !== undefined) throw error.reason;
      if (config.doNotRejectOnRollback === false) throw new Error('the transaction was rolled back');
    });
  return settled;
}

async function setMode(trx: Knex.Transaction, { isolationLevel, readOnly }: TransactionConfig): Promise<void> {
  if (isolationLevel !== undefined && !ISOLATION_LEVELS.includes(isolationLevel))
    throw new Error(`there is no isolation level ${isolationLevel}; use one of ${ISOLATION_LEVELS.join(', ')}`);
  const mode = [...(isolationLevel ? [`isolation level ${isolationLevel}`] : []), ...(readOnly ? ['read only'] : [])];
  if (mode.length > 0) await trx.raw(`set transaction ${mode.join(', ')}`);
}

/**
 * Commits or rolls back by the promise that the container answers. Without a promise, the container ends the
 * transaction itself.
 */
function runContainer(container: Container, trx: Knex.Transaction): void {
  const ignoreRejection = (promise: Promise<unknown>): void => void promise.catch(() => {});
  try {
    const result = container(trx) as PromiseLike<unknown> | undefined;
    if (typeof result?.then !== 'function') return;
    result.then(
      (value) => ignoreRejection(trx.commit(value) as never),
      (error) => ignoreRejection(trx.rollback(error ?? new Error('the transaction failed')) as never),
    );
  } catch (error) {
    ignoreRejection(trx.rollback(error) as never);
  }
}

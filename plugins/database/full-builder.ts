import { AsyncLocalStorage } from 'node:async_hooks';
import { createRequire } from 'node:module';
import type { Knex } from 'knex';
import type { Lease, UnitsOfWork } from './unit-of-work.ts';

/** Runs something in the unit of work that a builder belongs to. */
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
  /** Parts of one transaction come one after the other. */
  previousPart: Promise<unknown>;
}
type ClientClass = new (enter: RunInUnit) => KnexClient;

export interface FullBuilder {
  /** All of knex, on the connection of the current unit of work; its transactions are units of work. */
  builder(): Knex;
  /** Runs `work` in the transaction that a builder stands for; where it stands for none, just so. */
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

/** Knex is loaded when the first builder is asked for. */
export function createFullBuilder(units: UnitsOfWork): FullBuilder {
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
  const leases = new WeakMap<object, Lease>();

  class UnitClient extends Dialect implements KnexClient {
    readonly runInUnit: RunInUnit;
    declare transacting?: true;
    declare completed?: true;
    previousPart: Promise<unknown> = Promise.resolve();

    constructor(enter: RunInUnit) {
      // Values stay out of the texts of errors.
      super({ client: 'pg', compileSqlOnError: false });
      this.runInUnit = enter;
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
      const whole = this.previousPart.then(run);
      this.previousPart = whole.catch(() => {});
      return whole;
    }

    /** The pool is the service's. */
    async destroy(): Promise<void> {}
  }

  const open = (): OpenTransaction => {
    const client = new UnitClient(AsyncLocalStorage.snapshot());
    client.transacting = true;
    return { client, trx: makeKnex(client) as Knex.Transaction };
  };

  return { knex: makeKnex(new UnitClient((work) => work())), Client: UnitClient };
}

/** A builder inside a transaction, with the client it stands for. */
interface OpenTransaction {
  readonly client: KnexClient;
  readonly trx: Knex.Transaction;
}

/** A unit of work, or a part of the one that is open, that ends when its transaction is committed or rolled back. */
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
    throw new Error(`there is no isolation level ${isolationLevel}; there are ${ISOLATION_LEVELS.join(', ')}`);
  const mode = [...(isolationLevel ? [`isolation level ${isolationLevel}`] : []), ...(readOnly ? ['read only'] : [])];
  if (mode.length > 0) await trx.raw(`set transaction ${mode.join(', ')}`);
}

/** What answers a promise is committed or rolled back by how it ends; all else by whoever was given the transaction. */
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

import { AsyncLocalStorage } from 'node:async_hooks';
import { createRequire } from 'node:module';
import type { Knex } from 'knex';
import type { Lease, Units } from './unit-of-work.ts';

/** Runs something in the unit of work that a builder belongs to. */
type Enter = <T>(work: () => T) => T;
type Container = (trx: Knex.Transaction) => unknown;

interface TransactionConfig {
  readonly isolationLevel?: string;
  readonly readOnly?: boolean;
  readonly doNotRejectOnRollback?: boolean;
}

interface Client {
  readonly enter: Enter;
  transacting?: true;
  completed?: true;
  /** Parts of one transaction come one after the other. */
  last: Promise<unknown>;
}
type ClientClass = new (enter: Enter) => Client;

export interface WholeBuilder {
  /** All of knex, on the connection of the current unit of work; its transactions are units of work. */
  builder(): Knex;
  /** Runs `work` in the transaction that a builder stands for; where it stands for none, just so. */
  inside<T>(builder: unknown, work: () => Promise<T>): Promise<T>;
}

const LEVELS: readonly string[] = ['read uncommitted', 'read committed', 'repeatable read', 'serializable'];

class RolledBack extends Error {
  readonly reason: unknown;
  constructor(reason: unknown) {
    super('the transaction was rolled back');
    this.reason = reason;
  }
}

/** Knex is loaded when the first builder is asked for. */
export function createWholeBuilder(units: Units): WholeBuilder {
  let made: { knex: Knex; Client: ClientClass } | undefined;
  return {
    builder() {
      made ??= make(units);
      return made.knex;
    },
    inside(builder, work) {
      const client = (builder as { client?: unknown } | undefined)?.client;
      if (!made || !(client instanceof made.Client)) return work();
      return client.completed ? Promise.reject(new Error('the transaction is complete')) : client.enter(work);
    },
  };
}

function make(units: Units): { knex: Knex; Client: ClientClass } {
  const load = createRequire(import.meta.url);
  const Dialect = load('knex/lib/dialects/postgres/index.js') as new (config: object) => object;
  const makeKnex = load('knex/lib/knex-builder/make-knex.js') as (client: Client) => Knex;
  const leases = new WeakMap<object, Lease>();

  class UnitClient extends Dialect implements Client {
    readonly enter: Enter;
    declare transacting?: true;
    declare completed?: true;
    last: Promise<unknown> = Promise.resolve();

    constructor(enter: Enter) {
      // Values stay out of the texts of errors.
      super({ client: 'pg', compileSqlOnError: false });
      this.enter = enter;
    }

    async acquireConnection(): Promise<object> {
      if (this.completed) throw new Error('the transaction is complete');
      const lease = await this.enter(() => units.lease());
      leases.set(lease.client, lease);
      return lease.client;
    }

    async releaseConnection(connection: object): Promise<void> {
      const lease = leases.get(connection);
      leases.delete(connection);
      lease?.release();
    }

    transaction(container: Container, config: TransactionConfig = {}): Promise<unknown> {
      const run = () => this.enter(() => transact(units, open, container, config));
      if (!this.transacting) return run();
      const whole = this.last.then(run);
      this.last = whole.catch(() => {});
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
  readonly client: Client;
  readonly trx: Knex.Transaction;
}

/** A unit of work, or a part of the one that is open, that ends when its transaction is committed or rolled back. */
function transact(
  units: Units,
  open: () => OpenTransaction,
  container: Container,
  config: TransactionConfig,
): Promise<unknown> {
  const end = Promise.withResolvers<unknown>();
  const ended: Promise<unknown> = units
    .part(async () => {
      const { client, trx } = open();
      await setMode(trx, config);
      const settle = () => {
        client.completed = true;
        return ended.then(
          () => undefined,
          () => undefined,
        );
      };
      Object.assign(trx, {
        isTransaction: true,
        executionPromise: ended,
        isCompleted: () => client.completed === true,
        savepoint: (inner: Container, more?: TransactionConfig) => trx.transaction(inner as never, more as never),
        commit(value?: unknown) {
          end.resolve(value);
          client.completed = true;
          return ended.then(() => undefined);
        },
        rollback(reason?: unknown) {
          end.reject(new RolledBack(reason));
          return settle();
        },
      });
      start(container, trx);
      return end.promise;
    })
    .catch((error) => {
      if (!(error instanceof RolledBack)) throw error;
      if (error.reason !== undefined) throw error.reason;
      if (config.doNotRejectOnRollback === false) throw new Error('the transaction was rolled back');
    });
  return ended;
}

async function setMode(trx: Knex.Transaction, { isolationLevel, readOnly }: TransactionConfig): Promise<void> {
  if (isolationLevel !== undefined && !LEVELS.includes(isolationLevel))
    throw new Error(`there is no isolation level ${isolationLevel}; there are ${LEVELS.join(', ')}`);
  const mode = [...(isolationLevel ? [`isolation level ${isolationLevel}`] : []), ...(readOnly ? ['read only'] : [])];
  if (mode.length > 0) await trx.raw(`set transaction ${mode.join(', ')}`);
}

/** What answers a promise is committed or rolled back by how it ends; all else by whoever was given the transaction. */
function start(container: Container, trx: Knex.Transaction): void {
  const ended = (promise: Promise<unknown>): void => void promise.catch(() => {});
  try {
    const result = container(trx) as PromiseLike<unknown> | undefined;
    if (typeof result?.then !== 'function') return;
    result.then(
      (value) => ended(trx.commit(value) as never),
      (error) => ended(trx.rollback(error ?? new Error('the transaction failed')) as never),
    );
  } catch (error) {
    ended(trx.rollback(error) as never);
  }
}

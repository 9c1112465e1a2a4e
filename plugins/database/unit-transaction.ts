import type { PoolClient } from 'pg';
import { fail, type Log } from '#kernel';
import type { AbortSignalOrFactory } from './cancel.ts';
import { isConnectionLost } from './connection-errors.ts';
import type { PoolShareHolder } from './contract.ts';
import { UnitOfWorkCancellation, type UnitOfWorkLimits } from './unit-cancellation.ts';

/** A connection of the pool, which also holds a slot of the semaphore. */
export interface PooledConnection {
  readonly client: PoolClient;
  /** `broken`: the pool closes the connection. */
  release(broken: boolean): void;
}

export type AcquireConnection = (share: PoolShareHolder, signal?: AbortSignalOrFactory) => Promise<PooledConnection>;

/** A connection for one statement. */
export interface ConnectionLease {
  readonly client: PoolClient;
  /** Whether a transaction is open on it. */
  readonly inUnit: boolean;
  /** Cancels the statement where it is the only one of its unit and commits by itself. */
  readonly signal?: AbortSignalOrFactory;
  /** `error`: why the statement failed. */
  release(broken?: boolean, error?: unknown): void;
}

/** A connection outside units of work: its statement commits by itself. */
export async function leaseConnectionOutsideTransaction(
  connect: AcquireConnection,
  share: PoolShareHolder,
  signal?: AbortSignalOrFactory,
): Promise<ConnectionLease> {
  const held = await connect(share, signal);
  return {
    client: held.client,
    inUnit: false,
    release: (broken, error) => held.release(broken || isConnectionLost(error)),
  };
}

/**
 * One transaction on one connection, which all statements use while it is open. Batches, savepoints and previews (run,
 * answer, roll back) are built on it.
 */
export class UnitOfWorkTransaction {
  state: 'open' | 'committed' | 'rolled back' = 'open';
  readonly #connect: AcquireConnection;
  readonly #share: PoolShareHolder;
  readonly #limits: UnitOfWorkLimits;
  readonly #cancellation: UnitOfWorkCancellation;
  /** The first statement connects and begins the transaction: a unit without statements costs nothing. */
  #connection: PooledConnection | undefined;
  /** Nested parts that are running; the last statement of a part is not the last one of the unit. */
  #openParts = 0;
  /** Set once the only statement of this unit ran without a transaction; holds the error where the statement failed. */
  #singleStatement: { error?: unknown } | undefined;
  /** The error of a nested unit that failed: the unit does not commit, even where the caller caught the error. */
  #failed: { readonly error: unknown } | undefined;
  readonly #afterCommit: (() => void)[] = [];
  readonly #waits = new Set<() => Promise<void>>();
  /** Resolves when the connection is free: statements run one at a time. */
  #queue: Promise<void> = Promise.resolve();
  #savepoints = 0;

  constructor(connect: AcquireConnection, share: PoolShareHolder, limits: UnitOfWorkLimits = {}) {
    this.#connect = connect;
    this.#share = share;
    this.#limits = limits;
    this.#cancellation = new UnitOfWorkCancellation(limits);
  }

  /**
   * Leases the connection for one statement. `last`: the last statement of the unit; one that is also the first needs no
   * transaction.
   */
  async lease(last: boolean): Promise<ConnectionLease> {
    const previous = this.#queue;
    let free = () => {};
    this.#queue = new Promise((resolve) => {
      free = resolve;
    });
    await previous;
    try {
      if (this.state !== 'open')
        throw fail('INTERNAL_SERVER_ERROR', `a statement came after its unit of work was ${this.state}`);
      this.#assertNotCancelled();
      // After a failure the caller may try again: nothing was written.
      if (this.#singleStatement && this.#singleStatement.error === undefined)
        throw fail('INTERNAL_SERVER_ERROR', 'a statement came after the last one of its unit of work');
      if (last && !this.#connection && this.#openParts === 0) return await this.#leaseSingle(free);
      const { client } = this.#connection ?? (await this.#start());
      return { client, inUnit: true, release: free };
    } catch (error) {
      free();
      throw error;
    }
  }

  /** Runs a nested unit, whose failure fails this unit. */
  async join<T>(work: () => Promise<T>): Promise<T> {
    this.#openParts++;
    try {
      return await work();
    } catch (error) {
      this.#failed ??= { error };
      throw error;
    } finally {
      this.#openParts--;
    }
  }

  /** Runs `work` in a savepoint. A failure rolls it back and drops its after-commit effects; the unit continues. */
  async runPart<T>(work: () => Promise<T>): Promise<T> {
    const name = `part_${++this.#savepoints}`;
    const failed = this.#failed;
    const effects = this.#afterCommit.length;
    this.#openParts++;
    try {
      await this.#query(`savepoint ${name}`);
      try {
        const result = await work();
        await this.#query(`release savepoint ${name}`);
        return result;
      } catch (error) {
        await this.#query(`rollback to savepoint ${name}`);
        this.#afterCommit.splice(effects);
        this.#failed = failed;
        throw error;
      }
    } finally {
      this.#openParts--;
    }
  }

  deferUntilCommit(effect: () => void): void {
    if (this.state === 'open') this.#afterCommit.push(effect);
  }

  /** Adds work to wait for after the commit, before the unit resolves. The same `wait` runs once, however often it is added. */
  answerAfter(wait: () => Promise<void>): void {
    if (this.state === 'open') this.#waits.add(wait);
  }

  /** Commits the unit. Throws where a part of the unit failed; the caller then calls `rollback`. */
  async commit(): Promise<void> {
    if (this.#failed) throw this.#failed.error;
    await this.#queue;
    if (this.#singleStatement?.error !== undefined) throw this.#singleStatement.error;
    const ending = this.#cancellation.end();
    if (this.#connection) {
      await ending;
      this.#assertNotCancelled();
      const { command } = await this.#connection.client.query('commit');
      if (command !== 'COMMIT')
        throw fail('INTERNAL_SERVER_ERROR', 'the database rolled back: a failed statement was ignored');
    }
    this.state = 'committed';
    this.#connection?.release(false);
  }

  async rollback(): Promise<void> {
    this.state = 'rolled back';
    await this.#queue;
    await this.#cancellation.end();
    if (!this.#connection) return;
    const isBroken = await this.#connection.client.query('rollback').then(
      () => false,
      () => true,
    );
    this.#connection.release(isBroken);
  }

  /** Why the unit was cancelled; undefined where it was not. */
  get cancellationReason(): unknown {
    return this.#cancellation.reason;
  }

  #assertNotCancelled(): void {
    const { reason } = this.#cancellation;
    if (reason !== undefined) throw reason;
  }

  /** Runs the after-commit queue. An effect that throws is logged, and the others run. */
  runAfterCommit(log: Log): void {
    for (const effect of this.#afterCommit) {
      try {
        effect();
      } catch (error) {
        log.error({ err: error }, 'an effect after commit failed');
      }
    }
  }

  /** Runs the waits after the after-commit queue, before the unit resolves; undefined without any. */
  waitBeforeAnswer(log: Log): Promise<unknown> | undefined {
    if (this.#waits.size === 0) return undefined;
    const failed = (error: unknown) => log.error({ err: error }, 'a wait after commit failed');
    return Promise.all([...this.#waits].map((wait) => wait().catch(failed)));
  }

  async #start(): Promise<PooledConnection> {
    this.#connection = await this.#connect(this.#share, this.#limits.signal);
    this.#cancellation.watch(this.#connection);
    await this.#connection.client.query('begin');
    return this.#connection;
  }

  /** Leases a connection for the only statement of this unit: without `begin` and `commit`, which saves two round trips. */
  async #leaseSingle(free: () => void): Promise<ConnectionLease> {
    const held = await this.#connect(this.#share, this.#limits.signal);
    const single: { error?: unknown } = {};
    this.#singleStatement = single;
    return {
      client: held.client,
      inUnit: false,
      signal: this.#cancellation.signal,
      release(broken, error) {
        if (error !== undefined) single.error = error;
        held.release(broken || isConnectionLost(error));
        free();
      },
    };
  }

  async #query(text: string): Promise<void> {
    const { client, release } = await this.lease(false);
    await client.query(text).finally(release);
  }
}

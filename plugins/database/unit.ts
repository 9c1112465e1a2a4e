import type { PoolClient } from 'pg';
import { fail, type Log } from '#kernel';
import type { SignalSource } from './cancel.ts';
import { isConnectionLost } from './connection-errors.ts';
import type { Share } from './contract.ts';
import { UnitCancellation, type UnitLimits } from './unit-cancellation.ts';

/** A connection of the pool, with the place that its holder has. */
export interface PooledConnection {
  readonly client: PoolClient;
  /** `broken`: nothing more is asked on it. */
  release(broken: boolean): void;
}

export type AcquireConnection = (share: Share, signal?: SignalSource) => Promise<PooledConnection>;

/** A connection for one statement. */
export interface Lease {
  readonly client: PoolClient;
  /** A transaction is open on it. */
  readonly inUnit: boolean;
  /** Ends the statement where it commits by itself: it is all of its unit. */
  readonly signal?: SignalSource;
  /** With the error of a statement that failed. */
  release(broken?: boolean, error?: unknown): void;
}

/** A connection outside of all units: its statement commits by itself. */
export async function leaseOutsideUnit(
  connect: AcquireConnection,
  share: Share,
  signal?: SignalSource,
): Promise<Lease> {
  const held = await connect(share, signal);
  return {
    client: held.client,
    inUnit: false,
    release: (broken, error) => held.release(broken || isConnectionLost(error)),
  };
}

/**
 * One transaction on one connection, found by every statement made while it is open. It says nothing about how many
 * writes there are or whose: batches, savepoints and a preview (run, answer, roll back) are other ways to end one.
 */
export class Unit {
  state: 'open' | 'committed' | 'rolled back' = 'open';
  readonly #connect: AcquireConnection;
  readonly #share: Share;
  readonly #limits: UnitLimits;
  readonly #cancellation: UnitCancellation;
  /** Connected and begun by its first statement: a unit without statements costs nothing. */
  #connection: PooledConnection | undefined;
  /** Parts at work inside it, whose statements are never the last of the whole. */
  #openParts = 0;
  /** Its only statement went out as one that commits by itself, and maybe failed. */
  #singleStatement: { error?: unknown } | undefined;
  /** The error of a part that failed: what belongs together does not commit even where the caller swallowed the error. */
  #failed: { readonly error: unknown } | undefined;
  readonly #afterCommit: (() => void)[] = [];
  readonly #waits = new Set<() => Promise<void>>();
  /** Resolves when the connection is free: one statement at a time. */
  #queue: Promise<void> = Promise.resolve();
  #savepoints = 0;

  constructor(connect: AcquireConnection, share: Share, limits: UnitLimits = {}) {
    this.#connect = connect;
    this.#share = share;
    this.#limits = limits;
    this.#cancellation = new UnitCancellation(limits);
  }

  /** `last`: nothing follows in the unit. One that is also the first needs no transaction around it. */
  async lease(last: boolean): Promise<Lease> {
    const before = this.#queue;
    let free = () => {};
    this.#queue = new Promise((resolve) => {
      free = resolve;
    });
    await before;
    try {
      if (this.state !== 'open')
        throw fail('INTERNAL_SERVER_ERROR', `a statement came after its unit of work was ${this.state}`);
      this.#assertNotCancelled();
      // After a failure it may be tried again; nothing was written.
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

  /** Runs a part whose failure is that of the whole unit. */
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

  /** Runs a part that may fail by itself: a savepoint takes it back, with its effects, and the unit goes on. */
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

  /** The same `wait` counts once, however many parts of the unit ask for it. */
  answerAfter(wait: () => Promise<void>): void {
    if (this.state === 'open') this.#waits.add(wait);
  }

  /** Throws where anything of the unit failed; the unit is then still to be rolled back. */
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

  /** Why the unit was ended from outside; undefined where it was not. */
  get cancellationReason(): unknown {
    return this.#cancellation.reason;
  }

  #assertNotCancelled(): void {
    const { reason } = this.#cancellation;
    if (reason !== undefined) throw reason;
  }

  /** After the commit. */
  runAfterCommit(log: Log): void {
    for (const effect of this.#afterCommit) {
      try {
        effect();
      } catch (error) {
        log.error({ err: error }, 'an effect after commit failed');
      }
    }
  }

  /** After the effects: what has to be over before the unit answers; undefined where that is nothing. */
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

  /** PostgreSQL takes a statement by itself as a transaction, and two round trips fewer. */
  async #leaseSingle(free: () => void): Promise<Lease> {
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

import type { PoolClient } from 'pg';
import { fail, type Log } from '#kernel';
import type { Signal } from './cancel.ts';
import type { Share } from './contract.ts';
import { isLost } from './lost.ts';
import { UnitEnd, type UnitLimits } from './unit-end.ts';

/** A connection of the pool, with the place that its holder has. */
export interface Held {
  readonly client: PoolClient;
  /** `broken`: nothing more is asked on it. */
  release(broken: boolean): void;
}

export type Connect = (share: Share, signal?: Signal) => Promise<Held>;

/** A connection for one statement. */
export interface Lease {
  readonly client: PoolClient;
  /** A transaction is open on it. */
  readonly inUnit: boolean;
  /** Ends the statement where it commits by itself: it is all of its unit. */
  readonly signal?: Signal;
  /** With the error of a statement that failed. */
  release(broken?: boolean, error?: unknown): void;
}

/** A connection outside of all units: its statement commits by itself. */
export async function leaseAlone(connect: Connect, share: Share, signal?: Signal): Promise<Lease> {
  const held = await connect(share, signal);
  return { client: held.client, inUnit: false, release: (broken, error) => held.release(broken || isLost(error)) };
}

/**
 * One transaction on one connection, found by every statement made while it is open. It says nothing about how many
 * writes there are or whose: batches, savepoints and a preview (run, answer, roll back) are other ways to end one.
 */
export class Unit {
  state: 'open' | 'committed' | 'rolled back' = 'open';
  readonly #connect: Connect;
  readonly #share: Share;
  readonly #limits: UnitLimits;
  readonly #end: UnitEnd;
  /** Connected and begun by its first statement: a unit without statements costs nothing. */
  #held: Held | undefined;
  /** Parts at work inside it, whose statements are never the last of the whole. */
  #joined = 0;
  /** Its only statement went out as one that commits by itself, and maybe failed. */
  #single: { error?: unknown } | undefined;
  /** The error of a part that failed: what belongs together does not commit even where the caller swallowed the error. */
  #failed: { readonly error: unknown } | undefined;
  readonly #effects: (() => void)[] = [];
  readonly #waits = new Set<() => Promise<void>>();
  /** Resolves when the connection is free: one statement at a time. */
  #turn: Promise<void> = Promise.resolve();
  #savepoints = 0;

  constructor(connect: Connect, share: Share, limits: UnitLimits = {}) {
    this.#connect = connect;
    this.#share = share;
    this.#limits = limits;
    this.#end = new UnitEnd(limits);
  }

  /** `last`: nothing follows in the unit. One that is also the first needs no transaction around it. */
  async lease(last: boolean): Promise<Lease> {
    const before = this.#turn;
    let free = () => {};
    this.#turn = new Promise((resolve) => {
      free = resolve;
    });
    await before;
    try {
      if (this.state !== 'open')
        throw fail('INTERNAL_SERVER_ERROR', `a statement came after its unit of work was ${this.state}`);
      this.#assertGoesOn();
      // After a failure it may be tried again; nothing was written.
      if (this.#single && this.#single.error === undefined)
        throw fail('INTERNAL_SERVER_ERROR', 'a statement came after the last one of its unit of work');
      if (last && !this.#held && this.#joined === 0) return await this.#leaseSingle(free);
      const { client } = this.#held ?? (await this.#start());
      return { client, inUnit: true, release: free };
    } catch (error) {
      free();
      throw error;
    }
  }

  /** Runs a part whose failure is that of the whole unit. */
  async join<T>(work: () => Promise<T>): Promise<T> {
    this.#joined++;
    try {
      return await work();
    } catch (error) {
      this.#failed ??= { error };
      throw error;
    } finally {
      this.#joined--;
    }
  }

  /** Runs a part that may fail by itself: a savepoint takes it back, with its effects, and the unit goes on. */
  async part<T>(work: () => Promise<T>): Promise<T> {
    const name = `part_${++this.#savepoints}`;
    const failed = this.#failed;
    const effects = this.#effects.length;
    this.#joined++;
    try {
      await this.#query(`savepoint ${name}`);
      try {
        const result = await work();
        await this.#query(`release savepoint ${name}`);
        return result;
      } catch (error) {
        await this.#query(`rollback to savepoint ${name}`);
        this.#effects.splice(effects);
        this.#failed = failed;
        throw error;
      }
    } finally {
      this.#joined--;
    }
  }

  defer(effect: () => void): void {
    if (this.state === 'open') this.#effects.push(effect);
  }

  /** The same `wait` counts once, however many parts of the unit ask for it. */
  answerAfter(wait: () => Promise<void>): void {
    if (this.state === 'open') this.#waits.add(wait);
  }

  /** Throws where anything of the unit failed; the unit is then still to be rolled back. */
  async commit(): Promise<void> {
    if (this.#failed) throw this.#failed.error;
    await this.#turn;
    if (this.#single?.error !== undefined) throw this.#single.error;
    const ending = this.#end.end();
    if (this.#held) {
      await ending;
      this.#assertGoesOn();
      const { command } = await this.#held.client.query('commit');
      if (command !== 'COMMIT')
        throw fail('INTERNAL_SERVER_ERROR', 'the database rolled back: a failed statement was ignored');
    }
    this.state = 'committed';
    this.#held?.release(false);
  }

  async rollback(): Promise<void> {
    this.state = 'rolled back';
    await this.#turn;
    await this.#end.end();
    if (!this.#held) return;
    const isBroken = await this.#held.client.query('rollback').then(
      () => false,
      () => true,
    );
    this.#held.release(isBroken);
  }

  /** Why the unit was ended from outside; undefined where it was not. */
  get ended(): unknown {
    return this.#end.reason;
  }

  #assertGoesOn(): void {
    const { reason } = this.#end;
    if (reason !== undefined) throw reason;
  }

  /** After the commit. */
  runEffects(log: Log): void {
    for (const effect of this.#effects) {
      try {
        effect();
      } catch (error) {
        log.error({ err: error }, 'an effect after commit failed');
      }
    }
  }

  /** After the effects: what has to be over before the unit answers; undefined where that is nothing. */
  waits(log: Log): Promise<unknown> | undefined {
    if (this.#waits.size === 0) return undefined;
    const failed = (error: unknown) => log.error({ err: error }, 'a wait after commit failed');
    return Promise.all([...this.#waits].map((wait) => wait().catch(failed)));
  }

  async #start(): Promise<Held> {
    this.#held = await this.#connect(this.#share, this.#limits.signal);
    this.#end.watch(this.#held);
    await this.#held.client.query('begin');
    return this.#held;
  }

  /** PostgreSQL takes a statement by itself as a transaction, and two round trips fewer. */
  async #leaseSingle(free: () => void): Promise<Lease> {
    const held = await this.#connect(this.#share, this.#limits.signal);
    const single: { error?: unknown } = {};
    this.#single = single;
    return {
      client: held.client,
      inUnit: false,
      signal: this.#end.signal,
      release(broken, error) {
        if (error !== undefined) single.error = error;
        held.release(broken || isLost(error));
        free();
      },
    };
  }

  async #query(text: string): Promise<void> {
    const { client, release } = await this.lease(false);
    await client.query(text).finally(release);
  }
}

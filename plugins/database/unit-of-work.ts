import { AsyncLocalStorage } from 'node:async_hooks';
import type { PoolClient } from 'pg';
import { fail, type Log } from '#kernel';
import { asUnavailable, isLost } from './lost.ts';

/**
 * One transaction on one connection, found by every statement made while it is open. It says nothing about how many
 * writes there are or whose: batches, savepoints and a preview (run, answer, roll back) are other ways to end one.
 */
interface Unit {
  /** Connected and begun by its first statement: a unit that says nothing costs nothing. */
  client?: PoolClient;
  /** Parts at work inside it, whose statements are never the last of the whole. */
  joined: number;
  /** Its only statement went out as one that commits by itself, and maybe failed. */
  alone?: { error?: unknown };
  readonly effects: (() => void)[];
  state: 'open' | 'committed' | 'rolled back';
  /** The error of a part that failed: what belongs together does not commit even where somebody swallowed it. */
  failed?: { readonly error: unknown };
  /** Resolves when the connection is free: one statement at a time. */
  turn: Promise<void>;
}

/** A connection for one statement. */
export interface Lease {
  readonly client: PoolClient;
  /** A transaction is open on it. */
  readonly inUnit: boolean;
  /** With the error of a statement that failed. */
  release(broken?: boolean, error?: unknown): void;
}

export interface Units {
  /** `last`: nothing follows in the unit. One that is also the first needs no transaction around it. */
  lease(last?: boolean): Promise<Lease>;
  transaction<T>(work: () => Promise<T>): Promise<T>;
  /** Inside a unit: a part that may fail by itself. It is taken back as a whole, and the unit goes on. */
  part<T>(work: () => Promise<T>): Promise<T>;
  /** Does what is said now belong to a unit? */
  isInside(): boolean;
  /** Keeps an effect until the unit has committed; false where none is open. */
  defer(effect: () => void): boolean;
}

export function createUnits(connect: () => Promise<PoolClient>, log: Log): Units {
  const storage = new AsyncLocalStorage<Unit>();

  /** Work that outlives its committed unit goes on by itself; what was rolled back must not go on at all. */
  const current = (): Unit | undefined => {
    const unit = storage.getStore();
    return unit?.state === 'committed' ? undefined : unit;
  };

  async function lease(last = false): Promise<Lease> {
    const unit = current();
    if (!unit) {
      const client = await connect();
      return { client, inUnit: false, release: (broken, error) => client.release(broken || isLost(error)) };
    }
    const before = unit.turn;
    let free = () => {};
    unit.turn = new Promise((resolve) => {
      free = resolve;
    });
    await before;
    try {
      if (unit.state !== 'open')
        throw fail('INTERNAL_SERVER_ERROR', `a statement came after its unit of work was ${unit.state}`);
      // After a failure it may be tried again; nothing was written.
      if (unit.alone && unit.alone.error === undefined)
        throw fail('INTERNAL_SERVER_ERROR', 'a statement came after the last one of its unit of work');
      if (last && !unit.client && unit.joined === 0) return await alone(unit, free);
      const client = unit.client ?? (await start(unit));
      return { client, inUnit: true, release: free };
    } catch (error) {
      free();
      throw error;
    }
  }

  async function start(unit: Unit): Promise<PoolClient> {
    unit.client = await connect();
    await unit.client.query('begin');
    return unit.client;
  }

  /** PostgreSQL takes a statement by itself as a transaction, and two round trips fewer. */
  async function alone(unit: Unit, free: () => void): Promise<Lease> {
    const client = await connect();
    const ended: { error?: unknown } = {};
    unit.alone = ended;
    return {
      client,
      inUnit: false,
      release(broken, error) {
        if (error !== undefined) ended.error = error;
        client.release(broken || isLost(error));
        free();
      },
    };
  }

  async function join<T>(unit: Unit, work: () => Promise<T>): Promise<T> {
    unit.joined++;
    try {
      return await work();
    } catch (error) {
      unit.failed ??= { error };
      throw error;
    } finally {
      unit.joined--;
    }
  }

  let parts = 0;

  async function part<T>(unit: Unit, work: () => Promise<T>): Promise<T> {
    const name = `part_${++parts}`;
    const { failed } = unit;
    const kept = unit.effects.length;
    const say = async (text: string) => {
      const { client, release } = await lease();
      await client.query(text).finally(release);
    };
    unit.joined++;
    try {
      await say(`savepoint ${name}`);
      try {
        const result = await work();
        await say(`release savepoint ${name}`);
        return result;
      } catch (error) {
        await say(`rollback to savepoint ${name}`);
        unit.effects.splice(kept);
        unit.failed = failed;
        throw error;
      }
    } finally {
      unit.joined--;
    }
  }

  async function begin<T>(work: () => Promise<T>): Promise<T> {
    const unit: Unit = { effects: [], state: 'open', turn: Promise.resolve(), joined: 0 };
    let broken = false;
    try {
      const result = await storage.run(unit, work);
      if (unit.failed) throw unit.failed.error;
      await unit.turn;
      if (unit.alone?.error !== undefined) throw unit.alone.error;
      await commit(unit);
      unit.state = 'committed';
      return result;
    } catch (error) {
      unit.state = 'rolled back';
      await unit.turn;
      broken = await rollback(unit);
      throw asUnavailable(error);
    } finally {
      unit.client?.release(broken);
      if (unit.state === 'committed') for (const effect of unit.effects) run(effect);
    }
  }

  async function commit({ client }: Unit): Promise<void> {
    if (!client) return;
    const { command } = await client.query('commit');
    if (command !== 'COMMIT')
      throw fail('INTERNAL_SERVER_ERROR', 'the database rolled back: a failed statement was ignored');
  }

  /** Is the connection of no use any more? */
  async function rollback({ client }: Unit): Promise<boolean> {
    if (!client) return false;
    return client.query('rollback').then(
      () => false,
      () => true,
    );
  }

  function run(effect: () => void): void {
    try {
      effect();
    } catch (error) {
      log.error({ err: error }, 'an effect after commit failed');
    }
  }

  return {
    lease,
    transaction(work) {
      const unit = current();
      return unit ? join(unit, work) : begin(work);
    },
    part(work) {
      const unit = current();
      return unit ? part(unit, work) : begin(work);
    },
    isInside: () => current() !== undefined,
    defer(effect) {
      const unit = current();
      if (unit?.state === 'open') unit.effects.push(effect);
      return unit !== undefined;
    },
  };
}

import { AsyncLocalStorage } from 'node:async_hooks';
import type { PoolClient } from 'pg';
import { fail, type Log } from '#kernel';

/**
 * One transaction on one connection, found by every statement made while it is open. It says nothing about how many
 * writes there are or whose: batches, savepoints and a preview (run, answer, roll back) are other ways to end one.
 */
interface Unit {
  readonly client: PoolClient;
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
  readonly inUnit: boolean;
  release(broken?: boolean): void;
}

export interface Units {
  lease(): Promise<Lease>;
  transaction<T>(work: () => Promise<T>): Promise<T>;
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

  async function lease(): Promise<Lease> {
    const unit = current();
    if (!unit) {
      const client = await connect();
      return { client, inUnit: false, release: (broken) => client.release(broken) };
    }
    const before = unit.turn;
    let free = () => {};
    unit.turn = new Promise((resolve) => {
      free = resolve;
    });
    await before;
    if (unit.state !== 'open') {
      free();
      throw fail('INTERNAL_SERVER_ERROR', `a statement came after its unit of work was ${unit.state}`);
    }
    return { client: unit.client, inUnit: true, release: free };
  }

  async function join<T>(unit: Unit, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      unit.failed ??= { error };
      throw error;
    }
  }

  async function begin<T>(work: () => Promise<T>): Promise<T> {
    const unit: Unit = { client: await connect(), effects: [], state: 'open', turn: Promise.resolve() };
    let broken = false;
    try {
      await unit.client.query('begin');
      const result = await storage.run(unit, work);
      if (unit.failed) throw unit.failed.error;
      await unit.turn;
      const { command } = await unit.client.query('commit');
      if (command !== 'COMMIT')
        throw fail('INTERNAL_SERVER_ERROR', 'the database rolled back: a failed statement was ignored');
      unit.state = 'committed';
      return result;
    } catch (error) {
      unit.state = 'rolled back';
      await unit.turn;
      broken = await unit.client.query('rollback').then(
        () => false,
        () => true,
      );
      throw error;
    } finally {
      unit.client.release(broken);
      if (unit.state === 'committed') for (const effect of unit.effects) run(effect);
    }
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
    defer(effect) {
      const unit = current();
      if (unit?.state === 'open') unit.effects.push(effect);
      return unit !== undefined;
    },
  };
}

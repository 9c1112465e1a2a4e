import { AsyncLocalStorage } from 'node:async_hooks';
import type { Log } from '#kernel';
import type { SignalSource } from './cancel.ts';
import { asUnavailable } from './connection-errors.ts';
import type { Share } from './contract.ts';
import { SERVICE_SHARE } from './fair-semaphore.ts';
import { type AcquireConnection, type Lease, leaseOutsideUnit, Unit } from './unit.ts';
import type { UnitLimits } from './unit-cancellation.ts';

export type { Lease };

export interface UnitsOfWork {
  /**
   * `last`: nothing follows in the unit. One that is also the first needs no transaction around it. `share` and `signal` are
   * for a connection outside of all units.
   */
  lease(last?: boolean, share?: Share, signal?: SignalSource): Promise<Lease>;
  transaction<T>(work: () => Promise<T>, share?: Share, limits?: UnitLimits): Promise<T>;
  /** Inside a unit: a part that may fail by itself. It is taken back as a whole, and the unit goes on. */
  runPart<T>(work: () => Promise<T>): Promise<T>;
  /** Does what is said now belong to a unit? */
  isInUnit(): boolean;
  /** Keeps an effect until the unit has committed; false where none is open. */
  deferUntilCommit(effect: () => void): boolean;
  /** Lets the open unit, if any, answer only when `wait` is settled, which runs after the commit. */
  answerAfter(wait: () => Promise<void>): void;
}

/** Units of work, each carried along with the asynchronous calls that were made inside it. */
export function createUnitsOfWork(connect: AcquireConnection, log: Log): UnitsOfWork {
  const storage = new AsyncLocalStorage<Unit>();

  /** Work that outlives its committed unit goes on by itself; what was rolled back must not go on at all. */
  const current = (): Unit | undefined => {
    const unit = storage.getStore();
    return unit?.state === 'committed' ? undefined : unit;
  };

  async function begin<T>(work: () => Promise<T>, share = SERVICE_SHARE, limits?: UnitLimits): Promise<T> {
    const unit = new Unit(connect, share, limits);
    let result: T;
    try {
      result = await storage.run(unit, work);
      await unit.commit();
    } catch (error) {
      await unit.rollback();
      throw unit.cancellationReason ?? asUnavailable(error);
    }
    unit.runAfterCommit(log);
    const waits = unit.waitBeforeAnswer(log);
    if (waits) await waits;
    return result;
  }

  return {
    lease(last = false, share = SERVICE_SHARE, signal) {
      const unit = current();
      return unit ? unit.lease(last) : leaseOutsideUnit(connect, share, signal);
    },
    transaction(work, share, limits) {
      const unit = current();
      return unit ? unit.join(work) : begin(work, share, limits);
    },
    runPart(work) {
      const unit = current();
      return unit ? unit.runPart(work) : begin(work);
    },
    isInUnit: () => current() !== undefined,
    deferUntilCommit(effect) {
      const unit = current();
      unit?.deferUntilCommit(effect);
      return unit !== undefined;
    },
    answerAfter: (wait) => current()?.answerAfter(wait),
  };
}

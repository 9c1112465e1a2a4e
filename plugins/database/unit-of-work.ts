import { AsyncLocalStorage } from 'node:async_hooks';
import type { Log } from '#kernel';
import type { AbortSignalOrFactory } from './cancel.ts';
import { toUnavailableOnDatabaseOutage } from './connection-errors.ts';
import type { PoolShareHolder } from './contract.ts';
import { SERVICE_POOL_SHARE } from './pool-slot-semaphore.ts';
import type { UnitOfWorkLimits } from './unit-cancellation.ts';
import {
  type AcquireConnection,
  type ConnectionLease,
  leaseConnectionOutsideTransaction,
  UnitOfWorkTransaction,
} from './unit-transaction.ts';

export type { ConnectionLease };

export interface UnitsOfWork {
  /**
   * Leases the connection for one statement. `last`: the last statement of the unit; one that is also the first needs no
   * transaction. `share` and `signal` apply outside units of work only.
   */
  lease(last?: boolean, share?: PoolShareHolder, signal?: AbortSignalOrFactory): Promise<ConnectionLease>;
  transaction<T>(work: () => Promise<T>, share?: PoolShareHolder, limits?: UnitOfWorkLimits): Promise<T>;
  /** Inside a unit: runs `work` in a savepoint. Its failure rolls back the savepoint, and the unit continues. */
  runPart<T>(work: () => Promise<T>): Promise<T>;
  /** Whether a unit of work is open around the caller. */
  isInUnit(): boolean;
  /** Queues an effect until the unit has committed; false where none is open. */
  deferUntilCommit(effect: () => void): boolean;
  /** Runs `wait` after the commit of the open unit, which resolves only when `wait` has settled. */
  answerAfter(wait: () => Promise<void>): void;
}

/** Units of work, which follow asynchronous calls through AsyncLocalStorage. */
export function createUnitsOfWork(connect: AcquireConnection, log: Log): UnitsOfWork {
  const storage = new AsyncLocalStorage<UnitOfWorkTransaction>();

  /** Work that outlives a committed unit runs outside of it; work of a rolled back unit fails. */
  const current = (): UnitOfWorkTransaction | undefined => {
    const unit = storage.getStore();
    return unit?.state === 'committed' ? undefined : unit;
  };

  async function begin<T>(work: () => Promise<T>, share = SERVICE_POOL_SHARE, limits?: UnitOfWorkLimits): Promise<T> {
    const unit = new UnitOfWorkTransaction(connect, share, limits);
    let result: T;
    try {
      result = await storage.run(unit, work);
      await unit.commit();
    } catch (error) {
      await unit.rollback();
      throw unit.cancellationReason ?? toUnavailableOnDatabaseOutage(error);
    }
    unit.runAfterCommit(log);
    const waits = unit.waitBeforeAnswer(log);
    if (waits) await waits;
    return result;
  }

  return {
    lease(last = false, share = SERVICE_POOL_SHARE, signal) {
      const unit = current();
      return unit ? unit.lease(last) : leaseConnectionOutsideTransaction(connect, share, signal);
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

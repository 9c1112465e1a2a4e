import { setTimeout as pause } from 'node:timers/promises';
import type { Locker } from '@tus/server';
import type { InterProcessBus, InterProcessLock } from '../cluster/contract.ts';
import { createUploadLockedFailure, isUploadLockedFailure } from './failures.ts';

/** Channel on which a process asks the holder of a lock to give way. */
const GIVE_WAY = 'tus.give-way';
/** Milliseconds that a request waits for the lock of an upload after it asked the holder to give way. */
const LOCK_TIMEOUT = 10_000;
/** Milliseconds between two attempts of `runExclusive` while another process has the lock. */
const RETRY_INTERVAL = 100;

export const uploadLockName = (id: string): string => `tus ${id}`;

interface Holder {
  /** Asks the holder to keep what it has received and to release the lock. */
  giveWay(): void;
  readonly released: Promise<unknown>;
}

export interface UploadLocker extends Locker {
  /**
   * Runs `work` while holding the lock of the upload, and does not give it up before `work` ends. Waits for a holder in another
   * process as well: a request there that only compares the offset must not keep a complete upload from becoming a file.
   * @throws what `work` throws, and UPLOAD_LOCKED (423) if the lock is not free within 10 seconds.
   */
  runExclusive(id: string, work: () => Promise<void>): Promise<void>;
}

/**
 * Locks an upload for one request at a time, over all processes. A client whose connection broke may return before the service has
 * noticed, so the holder of the lock is asked to give way. A request waits for a holder in its own process; if another process holds
 * the lock, it gets 423 and retries.
 */
export function createLocker(
  lock: Pick<InterProcessLock, 'attempt'>,
  bus: InterProcessBus,
  timeout = LOCK_TIMEOUT,
): UploadLocker {
  const holders = new Map<string, Holder>();
  bus.subscribe(GIVE_WAY, (id) => holders.get(String(id))?.giveWay());

  /** Acquires the lock of an upload; answers the function that releases it, or undefined if another process holds the lock. */
  const acquire = (id: string): Promise<(() => Promise<void>) | undefined> =>
    new Promise((resolve, reject) => {
      const { promise: released, resolve: release } = Promise.withResolvers<void>();
      const ended = lock.attempt(uploadLockName(id), () => {
        resolve(async () => {
          release();
          await ended;
        });
        return released;
      });
      ended.then((hadLock) => hadLock ?? resolve(undefined), reject);
    });

  const locker: UploadLocker = {
    async runExclusive(id, work) {
      const deadline = AbortSignal.timeout(timeout);
      const lock = locker.newLock(id);
      for (;;) {
        try {
          await lock.lock(deadline, () => {});
          break;
        } catch (error) {
          if (!isUploadLockedFailure(error) || deadline.aborted) throw error;
          await pause(RETRY_INTERVAL);
        }
      }
      try {
        await work();
      } finally {
        await lock.unlock();
      }
    },

    newLock(id) {
      let unlock = async (): Promise<void> => {};
      return {
        unlock: () => unlock(),
        async lock(signal, requestRelease) {
          let deadline: AbortSignal | undefined;
          // No await between finding no holder and becoming the holder.
          for (let holder = holders.get(id); holder; holder = holders.get(id)) {
            deadline ??= AbortSignal.any([signal, AbortSignal.timeout(timeout)]);
            holder.giveWay();
            await Promise.race([holder.released, aborted(deadline)]);
            if (deadline.aborted) throw createUploadLockedFailure();
          }
          const { promise: released, resolve: leave } = Promise.withResolvers<void>();
          holders.set(id, { giveWay: () => void requestRelease(), released });
          let release: (() => Promise<void>) | undefined;
          unlock = async () => {
            try {
              await release?.();
            } finally {
              holders.delete(id);
              leave();
            }
          };
          try {
            release = await acquire(id);
            if (release) return;
            await bus.publish(GIVE_WAY, id);
            throw createUploadLockedFailure();
          } catch (error) {
            await unlock();
            throw error;
          }
        },
      };
    },
  };
  return locker;
}

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });

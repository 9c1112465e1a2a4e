import { setTimeout as pause } from 'node:timers/promises';
import type { Locker } from '@tus/server';
import type { Bus, Lock } from '../cluster/contract.ts';
import { isLocked, locked } from './failures.ts';

/** Another process asks whoever writes to an upload to come to an end. */
const GIVE_WAY = 'tus.give-way';
/** Milliseconds that a request waits for the lock after the holder was asked to give way. */
const LOCK_TIMEOUT = 10_000;
/** Milliseconds between two attempts of `runExclusive` while another process has the lock. */
const RETRY_INTERVAL = 100;

export const lockName = (id: string): string => `tus ${id}`;

interface Holder {
  /** What came so far is kept, and the lock is let go. */
  giveWay(): void;
  readonly gone: Promise<unknown>;
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
 * One request at a time on an upload, whichever process it is sent to. A client whose connection broke comes back before the
 * service has noticed, so whoever has the lock is asked to give way. In this process that is waited for; a client that met
 * another process is told to come again (423).
 */
export function createLocker(lock: Pick<Lock, 'attempt'>, bus: Bus, timeout = LOCK_TIMEOUT): UploadLocker {
  const holders = new Map<string, Holder>();
  bus.subscribe(GIVE_WAY, (id) => holders.get(String(id))?.giveWay());

  /** Undefined where another process has it. */
  const take = (id: string): Promise<(() => Promise<void>) | undefined> =>
    new Promise((resolve, reject) => {
      const { promise: released, resolve: release } = Promise.withResolvers<void>();
      const ended = lock.attempt(lockName(id), () => {
        resolve(async () => {
          release();
          await ended;
        });
        return released;
      });
      ended.then((had) => had ?? resolve(undefined), reject);
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
          if (!isLocked(error) || deadline.aborted) throw error;
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
          // Nothing is waited for between seeing that nobody is left and taking the place.
          for (let holder = holders.get(id); holder; holder = holders.get(id)) {
            deadline ??= AbortSignal.any([signal, AbortSignal.timeout(timeout)]);
            holder.giveWay();
            await Promise.race([holder.gone, aborted(deadline)]);
            if (deadline.aborted) throw locked();
          }
          const { promise: gone, resolve: leave } = Promise.withResolvers<void>();
          holders.set(id, { giveWay: () => void requestRelease(), gone });
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
            release = await take(id);
            if (release) return;
            await bus.publish(GIVE_WAY, id);
            throw locked();
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

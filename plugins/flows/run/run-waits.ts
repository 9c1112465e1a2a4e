import { setTimeout as pause } from 'node:timers/promises';
import { RunSuspension } from '../state/run-break.ts';
import type { RunState, WaitReason } from '../state/run-state.ts';

/** How long runs may wait in all, in milliseconds, where a client or a write waits for them. */
export interface WaitLimits {
  /** Inside of a write, which holds its locks meanwhile. */
  readonly write: number;
  /** Where a client waits for the answer, and where the state of the run cannot be stored. */
  readonly answer: number;
}

/** What a run has waited in this process, with the runs that it started. */
export interface WaitAccount {
  waited: number;
}

/** One wait of an operation. */
export interface RunWait {
  readonly milliseconds: number;
  readonly position: number;
  readonly reason: WaitReason;
  /** The attempt that follows, from 1. */
  readonly attempt: number;
  readonly signal: AbortSignal;
}

export interface RunWaiter {
  /**
   * Waits, in this process or, where the state of the run is kept and the wait is longer than a second, by a suspension of the run; after
   * it the same wait ends at once. False, without a wait, where the run has waited too long.
   * @throws RunSuspension; the reason of the signal.
   */
  wait(account: WaitAccount, state: RunState | undefined, wait: RunWait): Promise<boolean>;
  /** Milliseconds that the running code may wait in all. */
  limit(): number;
}

/** Milliseconds that a run with a state waits in its process. */
const MAX_PAUSE = 1000;

export function createRunWaiter(limits: WaitLimits, isInUnitOfWork: () => boolean, stopping: AbortSignal): RunWaiter {
  const limit = () => (isInUnitOfWork() ? limits.write : limits.answer);
  return {
    limit,
    async wait(account, state, { milliseconds, position, reason, attempt, signal }) {
      const isStored = state !== undefined && !isInUnitOfWork();
      const stored = isStored ? state.wait(position, reason) : undefined;
      const now = Date.now();
      const until = stored?.attempt === attempt ? stored.until : now + milliseconds;
      const delay = Math.max(0, until - now);
      if (isStored && delay > MAX_PAUSE) {
        if (until !== stored?.until) await state.setWait(position, reason, { until, attempt });
        throw new RunSuspension(new Date(until));
      }
      if (!isStored) {
        if (account.waited + delay > limit()) return false;
        account.waited += delay;
      }
      await pause(delay, undefined, { signal: AbortSignal.any([signal, stopping]) });
      return true;
    },
  };
}

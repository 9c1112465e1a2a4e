import type { InterProcessLock } from '../cluster/contract.ts';
import type { NextTick, ScheduleTicks } from './schedule-ticks.ts';

interface Options {
  readonly name: string;
  /** Earlier ticks are left alone. */
  readonly since: Date;
  readonly ticks: Pick<ScheduleTicks, 'next' | 'finish' | 'look'>;
  readonly lock: Pick<InterProcessLock, 'attempt'>;
  readonly run: (tick: Date) => Promise<void>;
  readonly isRunning: (tick: Date) => boolean;
  readonly isStopped: () => boolean;
  /** Called where another process runs a tick: what waits behind it is looked for later. */
  readonly onBlocked: () => void;
}

/** The lock of one job: the process that holds it runs its ticks. */
export const lockNameOf = (name: string): string => `schedule ${name}`;

/**
 * Creates the function that runs the ticks of a job that wait, one after the other in their order, in one process of all. A tick that
 * comes meanwhile is run by the process that holds the lock: it looks once more after it has released it, so that no tick of a process
 * that found it taken is left.
 */
export function createRunWaitingTicks(options: Options): () => Promise<void> {
  const { name, since, ticks, lock, run, isRunning, isStopped, onBlocked } = options;
  let isActive = false;
  let isDue = false;

  /** Whether all ticks have run; false where another process is at work on one. */
  async function runAll(): Promise<boolean> {
    for (let next: NextTick | undefined; !isStopped(); ) {
      next = await ticks.next(name, since);
      if (!next) return true;
      const { tick, state, isOwn } = next;
      if (state === 'taken') await run(tick);
      else if (!isOwn || isRunning(tick)) return false;
      // The end of its run in this process could not be recorded.
      else await ticks.finish(name, tick);
    }
    return true;
  }

  return async () => {
    isDue = true;
    if (isActive) return;
    isActive = true;
    try {
      while (isDue && !isStopped()) {
        isDue = false;
        const done = await lock.attempt(lockNameOf(name), runAll);
        if (!done?.value) onBlocked();
        else if (!isStopped() && (await ticks.look(name, since)).isLeft) isDue = true;
      }
    } catch (error) {
      onBlocked();
      throw error;
    } finally {
      isActive = false;
    }
  };
}

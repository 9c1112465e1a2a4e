import type IsolatedVm from 'isolated-vm';
import type { Limits } from '../protocol/messages.ts';

export type Enter = IsolatedVm.Reference<(...args: unknown[]) => string | undefined>;

/** How one stretch of guest code went. `used`: milliseconds of CPU. */
export interface Stretch {
  readonly used: number;
  /** It was interrupted: its room must be left and never entered again. */
  readonly late: boolean;
}

/** Runs guest code in stretches, each within a time. */
export interface Stretches {
  /**
   * Runs what may run guest code, and says how that went. What the guest throws is of no interest to anybody. The time is
   * a limit of wall-clock time; the account is of CPU. Outside of the limit the library reads `message` and `stack` of a
   * promise that was rejected beside: a getter there can hang this process, which the host ends at its own deadline.
   */
  stretch(time: number, work: (options: { timeout: number }) => void): Stretch;
  /**
   * Promise jobs that an interrupted stretch left behind would run inside of the next one, on the account of another
   * invocation. They run now, shortly, and are dropped by the engine where they do not come to an end.
   */
  settle(): void;
}

/** The isolate has gone over its memory limit. Nothing can be done in this process any more. */
class IsolateLost extends Error {}

/** `rest`: a function of the isolate that does nothing. */
export function createStretches(isolate: IsolatedVm.Isolate, rest: Enter, limits: Limits): Stretches {
  function settle(): void {
    for (let attempt = 0; attempt < 3; attempt++) {
      try {
        rest.applySync(undefined, [], { timeout: 1 });
        return;
      } catch {
        if (isolate.isDisposed) throw new IsolateLost();
      }
    }
  }

  return {
    stretch(time, work) {
      const timeout = quantum(time, limits.cpu);
      const started = performance.now();
      const cpu = cpuTime();
      let failed = false;
      try {
        work({ timeout });
      } catch {
        failed = true;
        if (isolate.isDisposed) throw new IsolateLost();
      }
      const elapsed = performance.now() - started;
      // A text of the guest's could claim a timeout, the clock cannot. Where the guest threw just now, it is late as well.
      const late = failed && elapsed >= timeout - 1;
      if (late) settle();
      return { used: Math.min(elapsed, cpuTime() - cpu), late };
    },
    settle,
  };
}

/**
 * What is left, rounded up to quarters of the whole: the library keeps a thread for every time that ends before those it
 * is already waiting for, and so needs few of them.
 */
function quantum(time: number, whole: number): number {
  const quarter = whole / 4;
  return Math.max(1, Math.ceil(Math.max(1, Math.ceil(time / quarter)) * quarter));
}

/** Milliseconds of CPU this thread has used. The library's own count is of wall-clock time on most systems. */
function cpuTime(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

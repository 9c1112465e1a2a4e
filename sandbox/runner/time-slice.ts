import type IsolatedVm from 'isolated-vm';
import type { GuestLimits } from '../protocol/messages.ts';

export type EnterReference = IsolatedVm.Reference<(...args: unknown[]) => string | undefined>;

/** How one stretch of guest code went. `used`: milliseconds of CPU. */
export interface TimeSlice {
  readonly cpuTime: number;
  /** It was interrupted: its room must be left and never entered again. */
  readonly isInterrupted: boolean;
}

/** Runs guest code in stretches, each within a time. */
export interface SliceRunner {
  /**
   * Runs what may run guest code, and says how that went. What the guest throws is of no interest to anybody. The time is
   * a limit of wall-clock time; the account is of CPU. Outside of the limit the library reads `message` and `stack` of a
   * promise that was rejected beside: a getter there can hang this process, which the host ends at its own deadline.
   */
  runSlice(time: number, work: (options: { timeout: number }) => void): TimeSlice;
  /**
   * Promise jobs that an interrupted stretch left behind would run inside of the next one, on the account of another
   * invocation. They run now, shortly, and are dropped by the engine where they do not come to an end.
   */
  flushPromiseJobs(): void;
}

/** The isolate has gone over its memory limit. Nothing can be done in this process any more. */
class IsolateLost extends Error {}

/** `rest`: a function of the isolate that does nothing. */
export function createSliceRunner(isolate: IsolatedVm.Isolate, rest: EnterReference, limits: GuestLimits): SliceRunner {
  function flushPromiseJobs(): void {
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
    runSlice(time, work) {
      const timeout = quantum(time, limits.cpu);
      const started = performance.now();
      const cpu = readCpuTime();
      let failed = false;
      try {
        work({ timeout });
      } catch {
        failed = true;
        if (isolate.isDisposed) throw new IsolateLost();
      }
      const elapsed = performance.now() - started;
      // A text of the guest's could claim a timeout, the clock cannot. Where the guest threw just now, it is late as well.
      const isInterrupted = failed && elapsed >= timeout - 1;
      if (isInterrupted) flushPromiseJobs();
      return { cpuTime: Math.min(elapsed, readCpuTime() - cpu), isInterrupted };
    },
    flushPromiseJobs,
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
function readCpuTime(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

import type IsolatedVm from 'isolated-vm';
import type { GuestLimits } from '../protocol/messages.ts';

export type RealmEntryPointReference = IsolatedVm.Reference<(...args: unknown[]) => string | undefined>;

/** The result of one time slice of guest code. `cpuTime`: milliseconds of CPU. */
export interface TimeSliceResult {
  readonly cpuTime: number;
  /** The slice was interrupted: its realm must be released and not entered again. */
  readonly isInterrupted: boolean;
}

/** Runs guest code in time slices. */
export interface TimeSliceRunner {
  /**
   * Runs work that may execute guest code. Errors of the guest are ignored. `time` limits wall-clock time, and the
   * result counts CPU time. Outside of the limit isolated-vm reads `message` and `stack` of unhandled rejections: a
   * getter there can hang this process, which the host ends at its own deadline.
   */
  runSlice(time: number, work: (options: { timeout: number }) => void): TimeSliceResult;
  /**
   * Runs the promise jobs of an interrupted slice for a short time; the engine drops those that do not end. In the next
   * slice they would use the time of another invocation.
   */
  flushPromiseJobs(): void;
}

/** The isolate has exceeded its memory limit and is disposed. The process must end. */
class IsolateLost extends Error {}

/** Creates the runner of time slices of one isolate. `rest`: a function of the isolate that does nothing. */
export function createTimeSliceRunner(
  isolate: IsolatedVm.Isolate,
  rest: RealmEntryPointReference,
  limits: GuestLimits,
): TimeSliceRunner {
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
      // An error of the guest could imitate a timeout, so the clock decides. A guest that throws at the end of its time
      // counts as interrupted.
      const isInterrupted = failed && elapsed >= timeout - 1;
      if (isInterrupted) flushPromiseJobs();
      return { cpuTime: Math.min(elapsed, readCpuTime() - cpu), isInterrupted };
    },
    flushPromiseJobs,
  };
}

/**
 * Rounds the timeout of a slice up to quarters of the CPU limit: isolated-vm keeps a thread for every timeout that ends
 * before the pending ones, and so needs few threads.
 */
function quantum(time: number, whole: number): number {
  const quarter = whole / 4;
  return Math.max(1, Math.ceil(Math.max(1, Math.ceil(time / quarter)) * quarter));
}

/** Milliseconds of CPU that this thread has used. The counter of isolated-vm is wall-clock time on most systems. */
function readCpuTime(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

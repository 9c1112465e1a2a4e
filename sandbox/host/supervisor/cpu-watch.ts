import type { GuestLimits } from '../../protocol/messages.ts';
import type { Child } from '../child.ts';
import type { SupervisorBounds } from './bounds.ts';

/** Part of an invocation's CPU time: the kernel counts in 10 ms, and the runner's own work is no guest's. */
const GRACE = 0.1;

/** CPU time since a mark, against the number of invocations that were in the process meanwhile. */
interface CpuSpan {
  /** Set by the first look after the mark. */
  from: number | undefined;
  runs: number;
}

interface CpuWatchOptions {
  /** Milliseconds of CPU for one invocation. */
  readonly limit: number;
  /** Between two looks. */
  readonly interval: number;
  readonly now: () => number;
  /** CPU time since the start of the process; undefined where the system does not tell. */
  read(): number | undefined;
  /** There is nothing to watch any more. */
  isIdle(): boolean;
  /** The process has used more than its invocations may. */
  onExceeded(): void;
}

/** A process that is watched. */
interface WatchedWorker {
  readonly busy: number;
  readonly state: string;
  kill(cause: 'cpu'): void;
}

/** Ends a process that has used more than its invocations, or the evaluation of its script, may. */
export const watchCpu = (
  worker: WatchedWorker,
  child: Child,
  limits: GuestLimits,
  bounds: SupervisorBounds,
  now: () => number,
): CpuWatch =>
  new CpuWatch({
    limit: limits.cpu,
    interval: bounds.cpuInterval,
    now,
    read: () => child.cpuTime(),
    isIdle: () => worker.busy === 0 && worker.state !== 'loading',
    onExceeded: () => worker.kill('cpu'),
  });

/**
 * Watches from outside what CPU time a process uses, since some built-ins of the language cannot be interrupted from
 * inside. CPU time and not the clock: a machine that is slow, or busy with others, ends nobody. Which invocation used it
 * cannot be seen from here. So a process may use as much as all invocations together that it had since it was idle, and
 * as much as those that it had since it last said something, which it cannot do while a guest executes.
 */
export class CpuWatch {
  readonly #options: CpuWatchOptions;
  readonly #sinceIdle: CpuSpan = { from: undefined, runs: 0 };
  readonly #sinceMessage: CpuSpan = { from: undefined, runs: 0 };
  #nextCheckAt = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: CpuWatchOptions) {
    this.#options = options;
  }

  /** An invocation was sent to the process, which now has so many. */
  recordInvocation(busy: number): void {
    if (busy === 1) this.#sinceIdle.from = undefined;
    this.#sinceIdle.runs = busy === 1 ? 1 : this.#sinceIdle.runs + 1;
    this.#sinceMessage.runs = Math.max(this.#sinceMessage.runs, busy);
    if (busy === 1) this.#nextCheckAt = 0;
    this.#timer ??= setInterval(() => this.#check(), this.#options.interval).unref();
  }

  /** The process said something; it has so many invocations now. */
  recordMessage(busy: number): void {
    this.#sinceMessage.from = undefined;
    this.#sinceMessage.runs = busy;
    this.#nextCheckAt = 0;
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #check(): void {
    const { now, read, isIdle, onExceeded } = this.#options;
    const time = now();
    const isDue = time >= this.#nextCheckAt;
    const used = isDue && !isIdle() ? read() : undefined;
    if (used === undefined) {
      if (isDue) this.stop();
      return;
    }
    const left = Math.min(this.#left(this.#sinceIdle, used), this.#left(this.#sinceMessage, used));
    // One thread uses no more than the time that passes, so there is nothing to be seen earlier.
    this.#nextCheckAt = time + left;
    if (left <= 0) onExceeded();
  }

  #left(span: CpuSpan, used: number): number {
    span.from ??= used;
    return this.#options.limit * (Math.max(1, span.runs) + GRACE) - (used - span.from);
  }
}

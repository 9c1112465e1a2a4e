import type { GuestLimits } from '../../protocol/messages.ts';
import type { ConfinedChild } from '../confined-child.ts';
import type { SupervisorBounds } from './bounds.ts';

/**
 * Tolerance as a fraction of an invocation's CPU time, since the kernel counts in 10 ms and the runner itself uses
 * some.
 */
const GRACE = 0.1;

/** CPU time since a mark, and the number of invocations in the process since then. */
interface CpuSpan {
  /** CPU time at the first check after the mark. */
  from: number | undefined;
  runs: number;
}

interface CpuWatchOptions {
  /** Milliseconds of CPU for one invocation. */
  readonly limit: number;
  /** Milliseconds between two checks. */
  readonly interval: number;
  readonly now: () => number;
  /** CPU time since the start of the process; undefined where the operating system does not report it. */
  read(): number | undefined;
  /** True when no invocation is in flight. */
  isIdle(): boolean;
  /** Called when the process has used more than its invocations may. */
  onExceeded(): void;
}

/** The watched process. */
interface WatchedWorker {
  readonly busy: number;
  readonly state: string;
  kill(cause: 'cpu'): void;
}

/** Kills a process that uses more CPU time than granted: while it loads, for the evaluation of its script; later, for its invocations. */
export const enforceCpuLimit = (
  worker: WatchedWorker,
  child: ConfinedChild,
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
 * Watches the CPU time of a process from outside, since some built-ins of the language cannot be interrupted from
 * inside. It measures CPU time and not wall-clock time, so that a slow or busy machine ends no process. Which
 * invocation used the time cannot be seen from outside. So a process may use the time of all invocations since it was
 * last idle, and the time of those since its last message, which it cannot send while a guest executes.
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

  /** An invocation was sent to the process. `busy` is the number now in flight. */
  recordInvocation(busy: number): void {
    if (busy === 1) this.#sinceIdle.from = undefined;
    this.#sinceIdle.runs = busy === 1 ? 1 : this.#sinceIdle.runs + 1;
    this.#sinceMessage.runs = Math.max(this.#sinceMessage.runs, busy);
    if (busy === 1) this.#nextCheckAt = 0;
    this.#timer ??= setInterval(() => this.#check(), this.#options.interval).unref();
  }

  /** The process has sent a message. `busy` is the number of invocations now in flight. */
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
    // One thread cannot use more CPU time than the time that passes, so an earlier check is useless.
    this.#nextCheckAt = time + left;
    if (left <= 0) onExceeded();
  }

  #left(span: CpuSpan, used: number): number {
    span.from ??= used;
    return this.#options.limit * (Math.max(1, span.runs) + GRACE) - (used - span.from);
  }
}

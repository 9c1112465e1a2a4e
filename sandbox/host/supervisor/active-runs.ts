import { startTimeout } from './deferred.ts';
import type { GuestRun, RunResult } from './guest-run.ts';
import type { RunFailure } from './run-failure.ts';

/** An invocation in flight in a process. */
export interface ActiveRun {
  readonly run: GuestRun;
  readonly since: number;
  resolve(answer: RunResult): void;
  reject(error: RunFailure): void;
}

interface WatchedRun extends ActiveRun {
  readonly timer: NodeJS.Timeout;
  readonly abort: () => void;
}

/** The invocations in flight in one process, by id. */
export class ActiveRuns {
  readonly #now: () => number;
  readonly #runs = new Map<number, WatchedRun>();

  constructor(now: () => number) {
    this.#now = now;
  }

  get count(): number {
    return this.#runs.size;
  }

  get ids(): readonly number[] {
    return [...this.#runs.keys()];
  }

  get(id: number): ActiveRun | undefined {
    return this.#runs.get(id);
  }

  /**
   * Calls `onAbandon` with the remaining milliseconds when the `wall` milliseconds are over or the client has
   * disconnected.
   */
  add(id: number, run: GuestRun, wall: number, onAbandon: (left: number) => void): Promise<RunResult> {
    const { promise, resolve, reject } = Promise.withResolvers<RunResult>();
    const since = this.#now();
    const timer = startTimeout(Math.max(1, wall), () => onAbandon(0));
    const abort = () => onAbandon(since + wall - this.#now());
    run.signal?.addEventListener('abort', abort, { once: true });
    this.#runs.set(id, { run, since, timer, abort, resolve, reject });
    return promise;
  }

  /** Removes an invocation. The caller settles its promise. */
  remove(id: number): ActiveRun | undefined {
    const active = this.#runs.get(id);
    if (!active) return undefined;
    clearTimeout(active.timer);
    active.run.signal?.removeEventListener('abort', active.abort);
    this.#runs.delete(id);
    return active;
  }
}

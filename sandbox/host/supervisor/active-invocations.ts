import { setTimeoutAfterIo } from './deferred.ts';
import type { InvocationResult, ScriptInvocation } from './invocation.ts';
import type { InvocationFailure } from './invocation-failure.ts';

/** An invocation in flight in a process. */
export interface ActiveInvocation {
  readonly run: ScriptInvocation;
  readonly since: number;
  resolve(answer: InvocationResult): void;
  reject(error: InvocationFailure): void;
}

interface WatchedRun extends ActiveInvocation {
  readonly timer: NodeJS.Timeout;
  readonly abort: () => void;
}

/** The invocations in flight in one process, by id. */
export class ActiveInvocations {
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

  get(id: number): ActiveInvocation | undefined {
    return this.#runs.get(id);
  }

  /**
   * Calls `onAbandon` with the remaining milliseconds when the `wall` milliseconds are over or the client has
   * disconnected.
   */
  add(id: number, run: ScriptInvocation, wall: number, onAbandon: (left: number) => void): Promise<InvocationResult> {
    const { promise, resolve, reject } = Promise.withResolvers<InvocationResult>();
    const since = this.#now();
    const timer = setTimeoutAfterIo(Math.max(1, wall), () => onAbandon(0));
    const abort = () => onAbandon(since + wall - this.#now());
    run.signal?.addEventListener('abort', abort, { once: true });
    this.#runs.set(id, { run, since, timer, abort, resolve, reject });
    return promise;
  }

  /** Removes an invocation. The caller settles its promise. */
  remove(id: number): ActiveInvocation | undefined {
    const active = this.#runs.get(id);
    if (!active) return undefined;
    clearTimeout(active.timer);
    active.run.signal?.removeEventListener('abort', active.abort);
    this.#runs.delete(id);
    return active;
  }
}

import { later } from './deferred.ts';
import type { RunFailure } from './failure.ts';
import type { Answer, Run } from './run.ts';

/** An invocation that a process works on. */
export interface ActiveRun {
  readonly run: Run;
  readonly since: number;
  resolve(answer: Answer): void;
  reject(error: RunFailure): void;
}

interface Watched extends ActiveRun {
  readonly timer: NodeJS.Timeout;
  readonly abort: () => void;
}

/** The invocations of one process, by their ids. */
export class ActiveRuns {
  readonly #now: () => number;
  readonly #runs = new Map<number, Watched>();

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

  /** `leave` is called when the `wall` milliseconds are over or the client is gone, with those that are left. */
  add(id: number, run: Run, wall: number, leave: (left: number) => void): Promise<Answer> {
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    const since = this.#now();
    const timer = later(Math.max(1, wall), () => leave(0));
    const abort = () => leave(since + wall - this.#now());
    run.signal?.addEventListener('abort', abort, { once: true });
    this.#runs.set(id, { run, since, timer, abort, resolve, reject });
    return promise;
  }

  /** Takes one away; its promise is for the caller to settle. */
  remove(id: number): ActiveRun | undefined {
    const active = this.#runs.get(id);
    if (!active) return undefined;
    clearTimeout(active.timer);
    active.run.signal?.removeEventListener('abort', active.abort);
    this.#runs.delete(id);
    return active;
  }
}

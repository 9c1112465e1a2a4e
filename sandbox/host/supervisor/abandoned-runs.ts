import { startTimeout } from './deferred.ts';

/** Invocations that nobody waits for and that the process has not yet proved to be gone, each with a deadline. */
export class AbandonedRuns {
  readonly #timers = new Map<number, NodeJS.Timeout>();

  get count(): number {
    return this.#timers.size;
  }

  /** `overdue` is called unless the invocation is removed within these milliseconds. */
  add(id: number, milliseconds: number, onOverdue: () => void): void {
    const timer = startTimeout(milliseconds, () => this.#timers.has(id) && onOverdue());
    this.#timers.set(id, timer);
  }

  /** False for an invocation that is none of these. */
  remove(id: number): boolean {
    clearTimeout(this.#timers.get(id));
    return this.#timers.delete(id);
  }

  clear(): void {
    for (const timer of this.#timers.values()) clearTimeout(timer);
    this.#timers.clear();
  }
}

import { later } from './deferred.ts';

/** Invocations that nobody waits for and that the process has not yet proved to be gone, each with a deadline. */
export class Abandoned {
  readonly #timers = new Map<number, NodeJS.Timeout>();

  get count(): number {
    return this.#timers.size;
  }

  /** `overdue` is called unless the invocation is removed within these milliseconds. */
  add(id: number, milliseconds: number, overdue: () => void): void {
    const timer = later(milliseconds, () => this.#timers.has(id) && overdue());
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

import { setTimeoutAfterIo } from './deferred.ts';

/** Cancelled invocations whose end the process has not yet confirmed, each with a deadline. */
export class UnconfirmedCancellations {
  readonly #timers = new Map<number, NodeJS.Timeout>();

  get count(): number {
    return this.#timers.size;
  }

  /** Calls `onOverdue` unless the invocation is removed within these milliseconds. */
  add(id: number, milliseconds: number, onOverdue: () => void): void {
    const timer = setTimeoutAfterIo(milliseconds, () => this.#timers.has(id) && onOverdue());
    this.#timers.set(id, timer);
  }

  /** False for an unknown invocation. */
  remove(id: number): boolean {
    clearTimeout(this.#timers.get(id));
    return this.#timers.delete(id);
  }

  clear(): void {
    for (const timer of this.#timers.values()) clearTimeout(timer);
    this.#timers.clear();
  }
}

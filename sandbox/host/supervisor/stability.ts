import type { Bounds } from './bounds.ts';

/** Many invocations that use up their CPU time are as bad as a crash; one is not. */
const EXHAUSTED = 0.25;

/**
 * How well a program does: when its next process may start, and whether there is to be a next one. The first restart
 * is immediate, the next wait 0.1 s and twice as long each time.
 */
export class Stability {
  readonly #bounds: Bounds;
  readonly #now: () => number;
  #mishaps: { readonly at: number; readonly weight: number }[] = [];
  #delay = -1;
  #notBefore = 0;
  #servingSince: number | undefined;
  #exhaustedAt = Number.NEGATIVE_INFINITY;
  parked = false;

  constructor(bounds: Bounds, now: () => number) {
    this.#bounds = bounds;
    this.#now = now;
  }

  /** Milliseconds until a process may be started. */
  wait(): number {
    return Math.max(0, this.#notBefore - this.#now());
  }

  /** A process of this program serves from now on. */
  serving(): void {
    this.#servingSince = this.#now();
  }

  /** Its process died of its own fault or had to be killed. True when that was once too often. */
  crashed(): boolean {
    const { firstDelay, longestDelay, goodService } = this.#bounds;
    const now = this.#now();
    if (this.#servingSince !== undefined && now - this.#servingSince >= goodService) this.#delay = -1;
    this.#servingSince = undefined;
    this.#delay = this.#delay < 0 ? 0 : this.#delay === 0 ? firstDelay : Math.min(this.#delay * 2, longestDelay);
    this.#notBefore = now + this.#delay;
    return this.#count(1);
  }

  /** An invocation used up its CPU time and was stopped inside. True when that was once too often. */
  exhausted(): boolean {
    const now = this.#now();
    if (now - this.#exhaustedAt < this.#bounds.together) return false;
    this.#exhaustedAt = now;
    return this.#count(EXHAUSTED);
  }

  restart(): void {
    this.#mishaps = [];
    this.#delay = -1;
    this.#notBefore = 0;
    this.parked = false;
  }

  #count(weight: number): boolean {
    const now = this.#now();
    this.#mishaps = this.#mishaps.filter(({ at }) => now - at < this.#bounds.crashWindow);
    this.#mishaps.push({ at: now, weight });
    if (this.parked || this.#mishaps.reduce((sum, one) => sum + one.weight, 0) < this.#bounds.crashes) return false;
    this.parked = true;
    return true;
  }
}

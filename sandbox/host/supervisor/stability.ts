import type { SupervisorBounds } from './bounds.ts';

/** Many invocations that use up their CPU time are as bad as a crash; one is not. */
const EXHAUSTION_WEIGHT = 0.25;

/**
 * How well a program does: when its next process may start, and whether there is to be a next one. The first restart
 * is immediate, the next wait 0.1 s and twice as long each time.
 */
export class Stability {
  readonly #bounds: SupervisorBounds;
  readonly #now: () => number;
  #incidents: { readonly at: number; readonly weight: number }[] = [];
  #delay = -1;
  #notBefore = 0;
  #servingSince: number | undefined;
  #exhaustedAt = Number.NEGATIVE_INFINITY;
  isParked = false;

  constructor(bounds: SupervisorBounds, now: () => number) {
    this.#bounds = bounds;
    this.#now = now;
  }

  /** Milliseconds until a process may be started. */
  wait(): number {
    return Math.max(0, this.#notBefore - this.#now());
  }

  /** A process of this program serves from now on. */
  recordServing(): void {
    this.#servingSince = this.#now();
  }

  /** Its process died of its own fault or had to be killed. True when that was once too often. */
  recordCrash(): boolean {
    const { firstDelay, longestDelay, goodService } = this.#bounds;
    const now = this.#now();
    if (this.#servingSince !== undefined && now - this.#servingSince >= goodService) this.#delay = -1;
    this.#servingSince = undefined;
    this.#delay = this.#delay < 0 ? 0 : this.#delay === 0 ? firstDelay : Math.min(this.#delay * 2, longestDelay);
    this.#notBefore = now + this.#delay;
    return this.#count(1);
  }

  /** An invocation used up its CPU time and was stopped inside. True when that was once too often. */
  recordExhaustion(): boolean {
    const now = this.#now();
    if (now - this.#exhaustedAt < this.#bounds.incidentWindow) return false;
    this.#exhaustedAt = now;
    return this.#count(EXHAUSTION_WEIGHT);
  }

  restart(): void {
    this.#incidents = [];
    this.#delay = -1;
    this.#notBefore = 0;
    this.isParked = false;
  }

  #count(weight: number): boolean {
    const now = this.#now();
    this.#incidents = this.#incidents.filter(({ at }) => now - at < this.#bounds.crashWindow);
    this.#incidents.push({ at: now, weight });
    if (this.isParked || this.#incidents.reduce((sum, one) => sum + one.weight, 0) < this.#bounds.maxCrashes)
      return false;
    this.isParked = true;
    return true;
  }
}

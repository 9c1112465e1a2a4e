import type { SupervisorBounds } from './bounds.ts';

/** An invocation that exhausts its CPU time counts as this fraction of a crash. */
const EXHAUSTION_WEIGHT = 0.25;

/**
 * The crash record of a program: when its next process may start, and whether it is parked. The first restart is
 * immediate, the next ones wait 0.1 s and twice as long each time.
 */
export class CrashRecord {
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

  /** Records that a process of this program serves from now on. */
  recordServing(): void {
    this.#servingSince = this.#now();
  }

  /** Records that the process crashed or had to be killed. Returns true when this parks the program. */
  recordCrash(): boolean {
    const { firstDelay, longestDelay, goodService } = this.#bounds;
    const now = this.#now();
    if (this.#servingSince !== undefined && now - this.#servingSince >= goodService) this.#delay = -1;
    this.#servingSince = undefined;
    this.#delay = this.#delay < 0 ? 0 : this.#delay === 0 ? firstDelay : Math.min(this.#delay * 2, longestDelay);
    this.#notBefore = now + this.#delay;
    return this.#count(1);
  }

  /** Records that an invocation exhausted its CPU time. Returns true when this parks the program. */
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

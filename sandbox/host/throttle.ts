/** Frames per second that may be of no use to anybody before a child is read more slowly. */
const RATE = 1000;
/** How many such frames are put up with at once. */
const BURST = 2000;

/** Tells how long to stop reading from a child that sends what nobody asked for. */
export class Throttle {
  readonly #now: () => number;
  #tokens = BURST;
  #at: number;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
    this.#at = now();
  }

  /** Notes one useless frame; milliseconds to pause, 0 for none. */
  recordUselessFrame(): number {
    const now = this.#now();
    this.#tokens = Math.min(BURST, this.#tokens + ((now - this.#at) / 1000) * RATE) - 1;
    this.#at = now;
    return this.#tokens >= 0 ? 0 : Math.ceil(((100 - this.#tokens) / RATE) * 1000);
  }
}

/** Useless frames per second above which the host reads a child more slowly. */
const RATE = 1000;
/** Useless frames that are tolerated in a burst. */
const BURST = 2000;

/** A token bucket: computes how long to stop reading from a child that sends useless frames. */
export class UselessFrameThrottle {
  readonly #now: () => number;
  #tokens = BURST;
  #at: number;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
    this.#at = now();
  }

  /** Counts one useless frame and returns the milliseconds to pause, 0 for none. */
  recordUselessFrame(): number {
    const now = this.#now();
    this.#tokens = Math.min(BURST, this.#tokens + ((now - this.#at) / 1000) * RATE) - 1;
    this.#at = now;
    return this.#tokens >= 0 ? 0 : Math.ceil(((100 - this.#tokens) / RATE) * 1000);
  }
}

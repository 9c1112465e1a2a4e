/** Counts messages of one client: `limit` in a second, and as many at once after a pause. */
export class MessageRate {
  readonly #limit: number;
  #tokens: number;
  #at = performance.now();

  constructor(limit: number) {
    this.#limit = limit;
    this.#tokens = limit;
  }

  /** False for a message too many. */
  take(): boolean {
    const now = performance.now();
    this.#tokens = Math.min(this.#limit, this.#tokens + ((now - this.#at) * this.#limit) / 1000);
    this.#at = now;
    if (this.#tokens < 1) return false;
    this.#tokens--;
    return true;
  }
}

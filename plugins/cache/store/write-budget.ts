/** The part of the bytes that clients without a user may store. */
const ANONYMOUS_SHARE = 1 / 4;

/**
 * Bounds the bytes that one process has in a store that it cannot count: what it has stored within the time after which an answer
 * expires. Clients without a user share a part of them.
 */
export class WriteBudget {
  readonly #maxSize: number;
  readonly #ttl: number;
  #since = performance.now();
  #current = { all: 0, anonymous: 0 };
  #previous = { all: 0, anonymous: 0 };

  constructor(maxSize: number, ttl: number) {
    this.#maxSize = maxSize;
    this.#ttl = ttl;
  }

  /** Counts the bytes; false where they would be too many. */
  take(bytes: number, isSignedIn: boolean): boolean {
    const age = performance.now() - this.#since;
    if (age >= this.#ttl) {
      this.#previous = age < 2 * this.#ttl ? this.#current : { all: 0, anonymous: 0 };
      this.#current = { all: 0, anonymous: 0 };
      this.#since = performance.now();
    }
    if (this.#current.all + this.#previous.all + bytes > this.#maxSize) return false;
    if (!isSignedIn) {
      if (this.#current.anonymous + this.#previous.anonymous + bytes > this.#maxSize * ANONYMOUS_SHARE) return false;
      this.#current.anonymous += bytes;
    }
    this.#current.all += bytes;
    return true;
  }
}

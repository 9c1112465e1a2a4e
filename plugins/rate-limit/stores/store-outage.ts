import type { Log } from '#kernel';

/** Milliseconds after a failure before the store is used again. */
const RETRY_INTERVAL = 1000;

/** Whether a store is away, for all limiters that count in it. It logs the start and the end of an outage once each. */
export class StoreOutage {
  readonly #log: Pick<Log, 'error' | 'warn'>;
  readonly #store: string;
  #since: number | undefined;
  #retryAt = 0;
  #reason: string | undefined;

  constructor(store: string, log: Pick<Log, 'error' | 'warn'>) {
    this.#store = store;
    this.#log = log;
  }

  /** Why the store is away; undefined where it is not. */
  get reason(): string | undefined {
    return this.#reason;
  }

  /** Whether a request may use the store: while it is away, one request a second tries. */
  mayTry(): boolean {
    if (this.#since === undefined) return true;
    const now = performance.now();
    if (now < this.#retryAt) return false;
    this.#retryAt = now + RETRY_INTERVAL;
    return true;
  }

  failed(error: unknown): void {
    const now = performance.now();
    this.#retryAt = now + RETRY_INTERVAL;
    this.#reason = error instanceof Error ? error.message : String(error);
    if (this.#since !== undefined) return;
    this.#since = now;
    const about = { store: this.#store, reason: this.#reason };
    this.#log.error(about, 'the store of rate limits is away: each process counts for itself');
  }

  recovered(): void {
    if (this.#since === undefined) return;
    const seconds = Math.round((performance.now() - this.#since) / 1000);
    this.#since = undefined;
    this.#reason = undefined;
    this.#log.warn({ store: this.#store, seconds }, 'the store of rate limits is back');
  }
}

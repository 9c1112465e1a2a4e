import { setTimeout as pause } from 'node:timers/promises';

/** How long a request waits for the same read of another request before it reads itself. Milliseconds. */
const LONGEST_WAIT = 2000;

/** How a read in progress ended: its answer is stored, it has none to share, or its client went away before it had one. */
export type FlightEnd = 'stored' | 'nothing' | 'abandoned';

/** A read in progress that others may wait for. */
export interface Flight {
  end(how: FlightEnd): void;
}

/** Concurrent requests for one key share one read. */
export class SingleFlight {
  readonly #running = new Map<string, Promise<FlightEnd>>();

  /** Begins a read; undefined where one for this key is in progress. */
  begin(key: string): Flight | undefined {
    if (this.#running.has(key)) return undefined;
    const { promise, resolve } = Promise.withResolvers<FlightEnd>();
    this.#running.set(key, promise);
    return {
      end: (how) => {
        if (this.#running.get(key) === promise) this.#running.delete(key);
        resolve(how);
      },
    };
  }

  /** Waits for the read in progress, for a bounded time. */
  async wait(key: string): Promise<FlightEnd> {
    const running = this.#running.get(key);
    if (!running) return 'nothing';
    const expiry = new AbortController();
    const expired = pause(LONGEST_WAIT, 'nothing' as const, { signal: expiry.signal }).catch(() => 'nothing' as const);
    try {
      return await Promise.race([running, expired]);
    } finally {
      expiry.abort();
    }
  }
}

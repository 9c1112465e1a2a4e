/** Milliseconds until a failed tick is tried again, and at most. Each wait is twice as long as the one before. */
const FIRST_WAIT = 100;
const MAX_WAIT = 5000;

interface Options {
  /** Claims or enqueues a tick. Rejects where the tick is still to be taken, such as without the database. */
  readonly take: (tick: Date) => Promise<void>;
  /** Ticks that wait for those before them at most; the oldest are left out. */
  readonly max: number;
  /** How many of the last ticks are tried again after a failure; 1 gives a tick up when the next one is due. */
  readonly maxAfterFailure: number;
  /** Aborts when the job is stopped. */
  readonly signal: AbortSignal;
  /** Called for the first of several failures in a row. */
  readonly onFailure: (error: unknown) => void;
}

/** Due ticks that this process has not taken yet. They are taken one after the other, again and again while the database is away. */
export class PendingTicks {
  readonly #options: Options;
  #waiting: Date[] = [];
  #current: Date | undefined;

  constructor(options: Options) {
    this.#options = options;
  }

  /** Whether `takeAll` is at work. */
  get isActive(): boolean {
    return this.#current !== undefined;
  }

  has(tick: Date): boolean {
    return [this.#current, ...this.#waiting].some((one) => one?.getTime() === tick.getTime());
  }

  add(tick: Date): void {
    this.#waiting = [...this.#waiting, tick].slice(-this.#options.max);
  }

  /** Leaves out the ticks that wait for the current one. */
  dropWaiting(): void {
    this.#waiting = [];
  }

  /** Takes all ticks, those included that are added meanwhile. Ends early when the job is stopped. */
  async takeAll(): Promise<void> {
    const { take, maxAfterFailure, signal, onFailure } = this.#options;
    let failures = 0;
    try {
      while (!signal.aborted) {
        this.#current = this.#waiting.shift();
        if (!this.#current) return;
        try {
          await take(this.#current);
          failures = 0;
        } catch (error) {
          if (failures === 0) onFailure(error);
          const wait = Math.min(FIRST_WAIT * 2 ** failures++, MAX_WAIT);
          await pause(wait, signal);
          this.#waiting = [this.#current, ...this.#waiting].slice(-maxAfterFailure);
        }
      }
    } finally {
      this.#current = undefined;
    }
  }
}

/** Waits, until the job is stopped at most. Does not keep the process running. */
function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const end = () => {
    clearTimeout(timer);
    signal.removeEventListener('abort', end);
    resolve();
  };
  const timer = setTimeout(end, milliseconds).unref();
  signal.addEventListener('abort', end);
  if (signal.aborted) end();
  return promise;
}

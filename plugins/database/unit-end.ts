import { fail } from '#kernel';
import { type Signal, signalOf, type Watch, watchFor } from './cancel.ts';
import type { Held } from './unit.ts';

/** What ends a unit of work before its commit. */
export interface UnitLimits {
  /** Its client left. */
  readonly signal?: Signal;
  /** Milliseconds that it may take; 0 or undefined is no limit. */
  readonly timeout?: number;
}

/** Milliseconds after which it is looked at: most units are over by then, and a listener on a signal costs more than a timer. */
const GRACE = 250;

/** Ends one unit of work: its running statement is cancelled, and nothing of it is asked any more. */
export class UnitEnd {
  readonly #limits: UnitLimits;
  readonly #since = performance.now();
  #stop: AbortController | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isOver = false;
  #unlisten = () => {};
  #watch: Watch | undefined;

  constructor(limits: UnitLimits) {
    this.#limits = limits;
  }

  /** Why the unit ended; undefined while it may go on. */
  get reason(): unknown {
    if (this.#isLimited && !this.#isOver && performance.now() - this.#since > GRACE) this.signal();
    return this.#stop?.signal.reason;
  }

  /** Aborts when the unit is to end. Made on first use. */
  readonly signal = (): AbortSignal | undefined => {
    if (!this.#isLimited) return undefined;
    this.#stop ??= this.#listen();
    return this.#stop.signal;
  };

  /** The statements of this connection are the unit's until `end`. */
  watch({ client }: Held): void {
    if (!this.#isLimited) return;
    this.#timer = setTimeout(() => {
      this.#watch = watchFor(client, this.signal() as AbortSignal);
    }, GRACE);
  }

  /** Before the commit or the rollback, neither of which may be cancelled: resolves when no request to cancel is under way. */
  end(): Promise<void> | undefined {
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.#unlisten();
    return this.#watch?.end();
  }

  get #isLimited(): boolean {
    return this.#limits.signal !== undefined || Boolean(this.#limits.timeout);
  }

  #listen(): AbortController {
    const stop = new AbortController();
    const { timeout } = this.#limits;
    const client = signalOf(this.#limits.signal);
    const leave = () => stop.abort(client?.reason);
    const late = () => stop.abort(tooLong(timeout as number));
    const timer = timeout ? setTimeout(late, Math.max(0, timeout - (performance.now() - this.#since))) : undefined;
    this.#unlisten = () => {
      clearTimeout(timer);
      client?.removeEventListener('abort', leave);
    };
    client?.addEventListener('abort', leave);
    if (client?.aborted) leave();
    else if (timeout && performance.now() - this.#since >= timeout) late();
    return stop;
  }
}

const tooLong = (timeout: number) =>
  fail(
    'SERVICE_UNAVAILABLE',
    `The write took longer than ${timeout} ms, so nothing of it was written. Write fewer rows at a time.`,
    { service: 'database' },
  );

import { fail } from '#kernel';
import {
  type AbortSignalOrFactory,
  cancelStatementsOnAbort,
  resolveSignal,
  type StatementCanceller,
} from './cancel.ts';
import type { PooledConnection } from './unit-transaction.ts';

/** Limits that end a unit of work before its commit. */
export interface UnitOfWorkLimits {
  /** Aborts when the client disconnects. */
  readonly signal?: AbortSignalOrFactory;
  /** Milliseconds; 0 or undefined is no limit. */
  readonly timeout?: number;
}

/**
 * Milliseconds before the limits are checked: most units are over by then, and a listener on a signal costs more than a
 * timer.
 */
const GRACE = 250;

/** Cancels one unit of work: its running statement is cancelled, and later statements of the unit fail. */
export class UnitOfWorkCancellation {
  readonly #limits: UnitOfWorkLimits;
  readonly #since = performance.now();
  #stop: AbortController | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isOver = false;
  #unlisten = () => {};
  #watch: StatementCanceller | undefined;

  constructor(limits: UnitOfWorkLimits) {
    this.#limits = limits;
  }

  /** Why the unit was cancelled; undefined while it may continue. */
  get reason(): unknown {
    if (this.#isLimited && !this.#isOver && performance.now() - this.#since > GRACE) this.signal();
    return this.#stop?.signal.reason;
  }

  /** Aborts when the unit is cancelled. Created on first use. */
  readonly signal = (): AbortSignal | undefined => {
    if (!this.#isLimited) return undefined;
    this.#stop ??= this.#listen();
    return this.#stop.signal;
  };

  /** Cancels statements of this connection until `end`. */
  watch({ client }: PooledConnection): void {
    if (!this.#isLimited) return;
    this.#timer = setTimeout(() => {
      this.#watch = cancelStatementsOnAbort(client, this.signal() as AbortSignal);
    }, GRACE);
  }

  /**
   * Ends the cancellation before the commit or the rollback, which must not be cancelled. Resolves when no cancel request is
   * under way.
   */
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
    const controller = new AbortController();
    const { timeout } = this.#limits;
    const client = resolveSignal(this.#limits.signal);
    const onClientLeft = () => controller.abort(client?.reason);
    const onTimeout = () => controller.abort(createTimeoutFailure(timeout as number));
    const timer = timeout ? setTimeout(onTimeout, Math.max(0, timeout - (performance.now() - this.#since))) : undefined;
    this.#unlisten = () => {
      clearTimeout(timer);
      client?.removeEventListener('abort', onClientLeft);
    };
    client?.addEventListener('abort', onClientLeft);
    if (client?.aborted) onClientLeft();
    else if (timeout && performance.now() - this.#since >= timeout) onTimeout();
    return controller;
  }
}

const createTimeoutFailure = (timeout: number) =>
  fail(
    'SERVICE_UNAVAILABLE',
    `The write took longer than ${timeout} ms, so nothing of it was written. Write fewer rows at a time.`,
    { service: 'database' },
  );

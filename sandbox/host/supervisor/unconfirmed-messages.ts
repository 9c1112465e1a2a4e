/** A process that confirms an invocation within these milliseconds gets more unconfirmed invocations. */
const QUICK_MS = 50;
/** A process that takes longer than these milliseconds gets fewer unconfirmed invocations. */
const SLOW_MS = 250;
const FIRST_WINDOW = 2;
const LARGEST_WINDOW = 32;

/**
 * Tracks the messages to a process that are not yet confirmed. A process executes messages in their order, so the
 * answer to a ping confirms all earlier ones: an invocation that was confirmed and has no result waits for a timer or
 * the host.
 */
export class UnconfirmedMessages {
  readonly #now: () => number;
  /** Send time by invocation id, oldest first. */
  readonly #unconfirmed = new Map<number, number>();
  /** Id of the latest reply to a host call. */
  #latestReply = 0;
  #confirmed = 0;
  #window = FIRST_WINDOW;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** True while the process executes nothing that the host knows of. Timers of the guest are unknown to the host. */
  get isWaiting(): boolean {
    return this.#unconfirmed.size === 0 && this.#latestReply <= this.#confirmed;
  }

  /**
   * True while the next invocation must stay queued. A quick program has up to 32 unconfirmed invocations, a slow one
   * has one.
   */
  get isFull(): boolean {
    return this.#unconfirmed.size >= this.#window;
  }

  /** Id of the invocation that the process executes; undefined where none is unconfirmed. */
  get executing(): number | undefined {
    return this.#unconfirmed.keys().next().value;
  }

  recordInvocation(id: number): void {
    this.#unconfirmed.set(id, this.#now());
  }

  recordReply(id: number): void {
    this.#latestReply = id;
  }

  finish(id: number): void {
    const since = this.#unconfirmed.get(id);
    if (since === undefined) return;
    this.#unconfirmed.delete(id);
    this.#adjustWindow(since);
  }

  /** Records the answer to a ping, which confirms all messages before the ping. */
  confirm(id: number): void {
    this.#confirmed = id;
    for (const [one, since] of this.#unconfirmed) {
      if (one > id) break;
      this.#unconfirmed.delete(one);
      this.#adjustWindow(since);
    }
  }

  #adjustWindow(since: number): void {
    const age = this.#now() - since;
    if (age < QUICK_MS) this.#window = Math.min(LARGEST_WINDOW, this.#window + 1);
    else if (age > SLOW_MS) this.#window = Math.max(1, Math.floor(this.#window / 2));
  }
}

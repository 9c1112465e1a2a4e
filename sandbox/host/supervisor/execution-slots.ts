/** A process, as far as its place is concerned. */
export interface SlotHolder {
  /** Sends a ping, unless one is unanswered. The answer arrives at `Places.report`. */
  ping(): void;
}

/** A program with invocations to send, and no place for its process. */
export interface SlotClaim {
  /** A place is free. The program takes it with `Places.enter`, or leaves it to the next program. */
  onSlotFree(): void;
}

/**
 * Places of execution: how many processes may execute at a time. A process that is known to wait holds none. While
 * programs queue, a process gets one invocation for each turn, so that all programs have turns.
 */
export class ExecutionSlots {
  readonly #count: number;
  readonly #holders = new Set<SlotHolder>();
  /** First come, first served; a program queues once. */
  readonly #queue = new Set<SlotClaim>();

  constructor(count: number) {
    this.#count = count;
  }

  /** Takes a place and answers true, where nobody queues and the process holds one or one is free. */
  take(holder: SlotHolder): boolean {
    if (this.#queue.size > 0) return false;
    if (this.#holders.has(holder)) return true;
    if (this.#holders.size >= this.#count) return false;
    this.#holders.add(holder);
    return true;
  }

  /** The process executes, even above the number of places: a resumed invocation ends soonest when it goes on. */
  enter(holder: SlotHolder): void {
    this.#holders.add(holder);
    if (this.#queue.size > 0) holder.ping();
  }

  /** The process executes nothing any more. */
  leave(holder: SlotHolder): void {
    if (this.#holders.delete(holder)) this.#serve();
  }

  /** What the answer to a ping showed. */
  report(holder: SlotHolder, isWaiting: boolean): void {
    if (isWaiting) this.leave(holder);
    else if (this.#queue.size > 0) holder.ping();
  }

  queue(claim: SlotClaim): void {
    if (this.#queue.has(claim)) return;
    this.#queue.add(claim);
    for (const holder of this.#holders) holder.ping();
    this.#serve();
  }

  withdraw(claim: SlotClaim): void {
    this.#queue.delete(claim);
  }

  #serve(): void {
    while (this.#holders.size < this.#count) {
      const [claim] = this.#queue;
      if (claim === undefined) return;
      this.#queue.delete(claim);
      claim.onSlotFree();
    }
  }
}

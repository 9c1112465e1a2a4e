/** A process that may hold an execution slot. */
export interface ExecutionSlotHolder {
  /** Sends a ping unless one is unanswered. The answer is passed to `ExecutionSlots.report`. */
  ping(): void;
}

/** A program with queued invocations and no execution slot for its process. */
export interface ExecutionSlotClaim {
  /** Called when a slot is free. The program takes it with `ExecutionSlots.enter` or leaves it to the next program. */
  onSlotFree(): void;
}

/**
 * A semaphore of execution slots: limits how many processes execute at a time (ADR 30). A process that is known to wait
 * holds no slot. While programs queue, a process gets one invocation per turn, so that all programs have turns.
 */
export class ExecutionSlots {
  readonly #count: number;
  readonly #holders = new Set<ExecutionSlotHolder>();
  /** Programs that wait for a slot, first in, first out. A program queues once. */
  readonly #queue = new Set<ExecutionSlotClaim>();

  constructor(count: number) {
    this.#count = count;
  }

  /** Takes a slot and returns true where no program queues and the process holds a slot or one is free. */
  take(holder: ExecutionSlotHolder): boolean {
    if (this.#queue.size > 0) return false;
    if (this.#holders.has(holder)) return true;
    if (this.#holders.size >= this.#count) return false;
    this.#holders.add(holder);
    return true;
  }

  /**
   * Gives the process a slot, also above the number of slots, since a resumed invocation ends soonest when it
   * continues.
   */
  enter(holder: ExecutionSlotHolder): void {
    this.#holders.add(holder);
    if (this.#queue.size > 0) holder.ping();
  }

  /** Releases the slot of a process that executes nothing any more. */
  leave(holder: ExecutionSlotHolder): void {
    if (this.#holders.delete(holder)) this.#serve();
  }

  /** Handles the answer of a process to a ping. `isWaiting`: the process executes nothing. */
  report(holder: ExecutionSlotHolder, isWaiting: boolean): void {
    if (isWaiting) this.leave(holder);
    else if (this.#queue.size > 0) holder.ping();
  }

  queue(claim: ExecutionSlotClaim): void {
    if (this.#queue.has(claim)) return;
    this.#queue.add(claim);
    for (const holder of this.#holders) holder.ping();
    this.#serve();
  }

  withdraw(claim: ExecutionSlotClaim): void {
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

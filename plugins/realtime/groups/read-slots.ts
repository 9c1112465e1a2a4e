/** Kinds of reads, each with slots of its own, so that one kind does not hold up another. */
export type ReadLane = 'changes' | 'slow' | 'init';

const SLOTS: Readonly<Record<ReadLane, number>> = { changes: 4, slow: 1, init: 2 };
/** Slots of one lane that one holder may have. */
const SLOTS_OF_HOLDER: Readonly<Record<ReadLane, number>> = { changes: 2, slow: 1, init: 1 };
/** Reads that may wait in one lane: a herd of clients that come back waits its turn. */
const MAX_WAITING = 20_000;

interface Lane {
  running: number;
  waiting: number;
  readonly runningOf: Map<string, number>;
  /** Waiting reads by holder. The first holder is served next, and then goes to the end. */
  readonly queues: Map<string, (() => void)[]>;
}

/** Bounds the statements that run at the same time for subscriptions, and shares them fairly among holders (users, the public). */
export class ReadSlots {
  readonly #lanes: Readonly<Record<ReadLane, Lane>> = { changes: createLane(), slow: createLane(), init: createLane() };

  /** Runs `work` when there is a slot. Undefined where too many reads wait already. */
  async run<T>(kind: ReadLane, holder: string, work: () => Promise<T>): Promise<T | undefined> {
    const lane = this.#lanes[kind];
    if (!this.#isFree(kind, holder) || lane.queues.has(holder)) {
      if (lane.waiting >= MAX_WAITING) return undefined;
      await new Promise<void>((resolve) => {
        const queue = lane.queues.get(holder);
        if (queue) queue.push(resolve);
        else lane.queues.set(holder, [resolve]);
        lane.waiting++;
      });
    } else take(lane, holder);
    try {
      return await work();
    } finally {
      this.#release(kind, holder);
    }
  }

  #isFree(kind: ReadLane, holder: string): boolean {
    const { running, runningOf } = this.#lanes[kind];
    return running < SLOTS[kind] && (runningOf.get(holder) ?? 0) < SLOTS_OF_HOLDER[kind];
  }

  #release(kind: ReadLane, holder: string): void {
    const lane = this.#lanes[kind];
    lane.running--;
    const left = (lane.runningOf.get(holder) ?? 1) - 1;
    if (left === 0) lane.runningOf.delete(holder);
    else lane.runningOf.set(holder, left);
    for (const [next, queue] of lane.queues) {
      if (!this.#isFree(kind, next)) continue;
      lane.queues.delete(next);
      const resume = queue.shift();
      if (queue.length > 0) lane.queues.set(next, queue);
      if (!resume) continue;
      lane.waiting--;
      // Taken here, so that no other read gets the slot before the waiting one runs.
      take(lane, next);
      resume();
      if (lane.running >= SLOTS[kind]) return;
    }
  }
}

const createLane = (): Lane => ({ running: 0, waiting: 0, runningOf: new Map(), queues: new Map() });

function take(lane: Lane, holder: string): void {
  lane.running++;
  lane.runningOf.set(holder, (lane.runningOf.get(holder) ?? 0) + 1);
}

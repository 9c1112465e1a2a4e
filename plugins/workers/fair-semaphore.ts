import type { FairSemaphore, FairSemaphoreOptions } from './contract.ts';

interface KeyState {
  held: number;
  waiting: number;
  /** The turn of the latest waiter or holder of the key. */
  turn: number;
}

interface Waiter {
  readonly state: KeyState;
  /** Waiters of one turn belong to different keys: the second of a key has the turn after that of its first. */
  readonly turn: number;
  enter(): void;
  refuse(error: unknown): void;
}

/**
 * Creates a `FairSemaphore`. A key that comes later is placed into the current turn, so that neither a backlog nor new callers
 * starve other keys.
 */
export function createFairSemaphore(options: FairSemaphoreOptions): FairSemaphore {
  const { limit, limitOfKey } = options;
  const states = new Map<string, KeyState>();
  const queue = new FairQueue(options);
  let currentTurn = 0;
  let held = 0;

  function stateOf(key: string): KeyState {
    const state = states.get(key) ?? { held: 0, waiting: 0, turn: 0 };
    states.set(key, state);
    return state;
  }

  function take(state: KeyState, turn: number): void {
    held++;
    state.held++;
    currentTurn = Math.max(currentTurn, turn);
  }

  function release(state: KeyState): void {
    held--;
    state.held--;
    const next = queue.next();
    if (!next || held >= limit) return;
    take(next.state, next.turn);
    next.enter();
  }

  async function enter(state: KeyState): Promise<void> {
    const turn = Math.max(currentTurn, state.turn) + 1;
    const place = held < limit && state.held < limitOfKey ? take(state, turn) : queue.wait(state, turn);
    state.turn = turn;
    await place;
  }

  return {
    async run(key, work) {
      const state = stateOf(key);
      try {
        await enter(state);
        try {
          return await work();
        } finally {
          release(state);
        }
      } finally {
        if (state.held === 0 && state.waiting === 0) states.delete(key);
      }
    },
    get held() {
      return held;
    },
    get waiting() {
      return queue.size;
    },
  };
}

/** The waiters of a fair semaphore, in order of arrival. */
class FairQueue {
  readonly #options: FairSemaphoreOptions;
  readonly #waiters = new Set<Waiter>();

  constructor(options: FairSemaphoreOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#waiters.size;
  }

  /** The first waiter of the earliest turn whose key may have another place. */
  next(): Waiter | undefined {
    let next: Waiter | undefined;
    for (const waiter of this.#waiters) {
      if (waiter.state.held < this.#options.limitOfKey && (!next || waiter.turn < next.turn)) next = waiter;
    }
    return next;
  }

  /** @throws what `refuse` makes where there is no room. */
  wait(state: KeyState, turn: number): Promise<void> {
    this.#makeRoom(state);
    const { deadline, refuse } = this.#options;
    return new Promise((resolve, reject) => {
      const leave = () => {
        clearTimeout(timer);
        state.waiting--;
        this.#waiters.delete(waiter);
      };
      const waiter: Waiter = {
        state,
        turn,
        enter() {
          leave();
          resolve();
        },
        refuse(error) {
          leave();
          reject(error);
        },
      };
      // The timer need not keep the process running: while a client waits, its connection does.
      const timer = setTimeout(() => waiter.refuse(refuse('timeout')), deadline).unref();
      state.waiting++;
      this.#waiters.add(waiter);
    });
  }

  #makeRoom(state: KeyState): void {
    const { queue, queueOfKey, refuse } = this.#options;
    if (state.waiting >= queueOfKey) throw refuse('full');
    if (this.#waiters.size < queue) return;
    let last: Waiter | undefined;
    for (const waiter of this.#waiters) if (waiter.state.waiting >= (last?.state.waiting ?? 0)) last = waiter;
    // A key loses its last waiter only to a key that would still have fewer waiters.
    if (!last || last.state.waiting <= state.waiting + 1) throw refuse('full');
    last.refuse(refuse('full'));
  }
}

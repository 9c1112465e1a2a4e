import type { Semaphore, SemaphoreOptions, SemaphoreRefusal } from './contract.ts';

interface Waiter {
  enter(): void;
  refuse(error: unknown): void;
}

/** Creates a `Semaphore`. A released place passes to the first waiter at once, so that no new caller takes it. */
export function createSemaphore({
  limit,
  deadline,
  queue = Number.POSITIVE_INFINITY,
  refuse = defaultError,
}: SemaphoreOptions): Semaphore {
  // Waiters in order of arrival; any of them may leave early.
  const waiters = new Set<Waiter>();
  let held = 0;
  let closed = false;

  function releasePlace(): void {
    const [next] = waiters;
    if (next) next.enter();
    else held--;
  }

  function createRelease(): () => void {
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      releasePlace();
    };
  }

  /** Takes a free place and returns undefined; without one, returns a promise that resolves when the caller has a place. */
  function enter(signal: AbortSignal | undefined): Promise<void> | undefined {
    signal?.throwIfAborted();
    if (closed) throw refuse('closed');
    if (held >= limit) {
      if (waiters.size >= queue) throw refuse('full');
      return waitIn(waiters, signal, deadline, () => refuse('timeout'));
    }
    held++;
    return undefined;
  }

  return {
    async acquire(signal) {
      await enter(signal);
      return createRelease();
    },
    async run(work, signal) {
      const turn = enter(signal);
      if (turn) await turn;
      try {
        return await work();
      } finally {
        releasePlace();
      }
    },
    close() {
      closed = true;
      for (const waiter of [...waiters]) waiter.refuse(refuse('closed'));
    },
    get held() {
      return held;
    },
    get waiting() {
      return waiters.size;
    },
  };
}

/** Waits for a place; resolves when the caller has the place of another holder. */
function waitIn(
  waiters: Set<Waiter>,
  signal: AbortSignal | undefined,
  deadline: number | undefined,
  timeoutError: () => unknown,
): Promise<void> {
  return new Promise((resolve, reject) => {
    let timer: NodeJS.Timeout | undefined;
    const leave = () => {
      waiters.delete(waiter);
      clearTimeout(timer);
      signal?.removeEventListener('abort', abort);
    };
    const waiter: Waiter = {
      enter() {
        leave();
        resolve();
      },
      refuse(error) {
        leave();
        reject(error);
      },
    };
    const abort = () => waiter.refuse(signal?.reason);
    waiters.add(waiter);
    signal?.addEventListener('abort', abort, { once: true });
    if (deadline !== undefined) timer = setTimeout(() => waiter.refuse(timeoutError()), deadline);
  });
}

const TEXTS: Readonly<Record<SemaphoreRefusal, string>> = {
  full: 'The queue of the semaphore is full.',
  timeout: 'The semaphore had no free place before the deadline.',
  closed: 'The semaphore is closed.',
};
const defaultError = (reason: SemaphoreRefusal): Error => new Error(TEXTS[reason]);

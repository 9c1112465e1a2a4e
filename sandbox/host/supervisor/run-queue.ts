import type { GuestRun, RunResult } from './guest-run.ts';
import { RunFailure } from './run-failure.ts';
import type { Worker } from './worker.ts';

/** Bytes of inputs that may still be queued, shared by all programs. */
export interface InputBudget {
  left: number;
}

interface QueuedRun {
  readonly run: GuestRun;
  settle(outcome: Worker | RunFailure): void;
}

interface QueueOptions {
  /** Milliseconds of an invocation from arrival to end. Half of them may pass in the queue. */
  readonly wall: number;
  readonly now: () => number;
  readonly budget: InputBudget;
  /** True while the script of the program is evaluated, so that a process will be ready soon. */
  isLoading(): boolean;
}

/** Invocations of one program that wait for a process or an execution slot, first in, first out. */
export class RunQueue {
  readonly #options: QueueOptions;
  readonly #queued = new Set<QueuedRun>();

  constructor(options: QueueOptions) {
    this.#options = options;
  }

  get length(): number {
    return this.#queued.size;
  }

  /**
   * Queues an invocation. Rejects with `busy` where no process or slot was free for half of its time, or where too many
   * bytes are queued; with `timeout` when the client disconnects or the whole time is over.
   */
  add(run: GuestRun): Promise<RunResult> {
    const { wall, now, budget, isLoading } = this.#options;
    const size = run.input.length;
    if (size > budget.left) return Promise.reject(new RunFailure('busy'));
    budget.left -= size;
    const since = now();
    return new Promise((resolve, reject) => {
      const abort = () => queued.settle(new RunFailure('timeout'));
      const overdue = () => {
        if (!isLoading()) queued.settle(new RunFailure('busy'));
        else timer = setTimeout(abort, wall / 2);
      };
      let timer = setTimeout(overdue, wall / 2);
      const queued: QueuedRun = {
        run,
        settle: (outcome) => {
          if (!this.#queued.delete(queued)) return;
          budget.left += size;
          clearTimeout(timer);
          run.signal?.removeEventListener('abort', abort);
          if (outcome instanceof RunFailure) reject(outcome);
          else resolve(outcome.invoke(run, wall - (now() - since)));
        },
      };
      run.signal?.addEventListener('abort', abort, { once: true });
      this.#queued.add(queued);
    });
  }

  /** Sends the first queued invocation to a process. */
  sendFirst(worker: Worker): void {
    const [first] = this.#queued;
    first?.settle(worker);
  }

  /** Fails all queued invocations. */
  refuse(failure: RunFailure): void {
    for (const queued of [...this.#queued]) queued.settle(failure);
  }
}

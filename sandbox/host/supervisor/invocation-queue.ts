import type { InvocationResult, ScriptInvocation } from './invocation.ts';
import { InvocationFailure } from './invocation-failure.ts';
import type { SupervisedProcess } from './supervised-process.ts';

/** Bytes of inputs that may still be queued, shared by all programs. */
export interface QueuedInputByteBudget {
  left: number;
}

interface QueuedRun {
  readonly run: ScriptInvocation;
  settle(outcome: SupervisedProcess | InvocationFailure): void;
}

interface QueueOptions {
  /** Milliseconds of an invocation from arrival to end. Half of them may pass in the queue. */
  readonly wall: number;
  readonly now: () => number;
  readonly budget: QueuedInputByteBudget;
  /** True while the script of the program is evaluated, so that a process will be ready soon. */
  isLoading(): boolean;
}

/** Invocations of one program that wait for a process or an execution slot, first in, first out. */
export class InvocationQueue {
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
  add(run: ScriptInvocation): Promise<InvocationResult> {
    const { wall, now, budget, isLoading } = this.#options;
    const size = run.input.length;
    if (size > budget.left) return Promise.reject(new InvocationFailure('busy'));
    budget.left -= size;
    const since = now();
    return new Promise((resolve, reject) => {
      const abort = () => queued.settle(new InvocationFailure('timeout'));
      const overdue = () => {
        if (!isLoading()) queued.settle(new InvocationFailure('busy'));
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
          if (outcome instanceof InvocationFailure) reject(outcome);
          else resolve(outcome.invoke(run, wall - (now() - since)));
        },
      };
      run.signal?.addEventListener('abort', abort, { once: true });
      this.#queued.add(queued);
    });
  }

  /** Sends the first queued invocation to a process. */
  sendFirst(worker: SupervisedProcess): void {
    const [first] = this.#queued;
    first?.settle(worker);
  }

  /** Fails all queued invocations. */
  refuse(failure: InvocationFailure): void {
    for (const queued of [...this.#queued]) queued.settle(failure);
  }
}

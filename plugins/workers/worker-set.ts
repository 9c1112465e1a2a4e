import type { WorkerPoolOptions } from './contract.ts';
import { startWorker, type Worker } from './worker.ts';

/** The processes of a pool: those at work, and those that rest until their idle timeout ends them. */
export class WorkerSet {
  readonly #options: WorkerPoolOptions;
  readonly #all = new Set<Worker>();
  readonly #resting = new Map<Worker, NodeJS.Timeout>();
  #isStopped = false;

  constructor(options: WorkerPoolOptions) {
    this.#options = options;
  }

  /** The process that worked last: its memory is warm, and the other processes get the rest after which they end. */
  take(): Worker {
    for (const worker of [...this.#resting.keys()].reverse()) {
      clearTimeout(this.#resting.get(worker));
      this.#resting.delete(worker);
      if (worker.isFit()) return worker;
    }
    return this.#start();
  }

  /** Takes back a process whose job is done. */
  rest(worker: Worker): void {
    if (this.#isStopped || !worker.isFit()) void worker.end();
    else this.#resting.set(worker, setTimeout(() => void worker.end(), this.#options.idleTimeout).unref());
  }

  /** Kills all processes; resolves when they are gone. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    for (const timer of this.#resting.values()) clearTimeout(timer);
    this.#resting.clear();
    await Promise.all([...this.#all].map((worker) => worker.end()));
  }

  #start(): Worker {
    const worker = startWorker(this.#options);
    this.#all.add(worker);
    void worker.gone.then(() => {
      this.#all.delete(worker);
      clearTimeout(this.#resting.get(worker));
      this.#resting.delete(worker);
    });
    return worker;
  }
}

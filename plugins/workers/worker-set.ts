import type { WorkerPoolOptions } from './contract.ts';
import { startWorker, type WorkerProcess } from './worker.ts';

/** The processes of a pool: busy ones, and idle ones until their idle timeout. */
export class WorkerProcessSet {
  readonly #options: WorkerPoolOptions;
  readonly #all = new Set<WorkerProcess>();
  readonly #idle = new Map<WorkerProcess, NodeJS.Timeout>();
  #isStopped = false;

  constructor(options: WorkerPoolOptions) {
    this.#options = options;
  }

  /**
   * Answers the idle process that worked last, or starts one: its memory is warm, and the other ones reach their idle timeout.
   */
  acquire(): WorkerProcess {
    for (const worker of [...this.#idle.keys()].reverse()) {
      clearTimeout(this.#idle.get(worker));
      this.#idle.delete(worker);
      if (worker.isUsable()) return worker;
    }
    return this.#start();
  }

  /** Takes back a process whose job is done, and keeps it for the next job while it is usable. */
  release(worker: WorkerProcess): void {
    if (this.#isStopped || !worker.isUsable()) void worker.end();
    else this.#idle.set(worker, setTimeout(() => void worker.end(), this.#options.idleTimeout).unref());
  }

  /** Kills all processes; resolves when they are gone. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    for (const timer of this.#idle.values()) clearTimeout(timer);
    this.#idle.clear();
    await Promise.all([...this.#all].map((worker) => worker.end()));
  }

  #start(): WorkerProcess {
    const worker = startWorker(this.#options);
    this.#all.add(worker);
    void worker.gone.then(() => {
      this.#all.delete(worker);
      clearTimeout(this.#idle.get(worker));
      this.#idle.delete(worker);
    });
    return worker;
  }
}

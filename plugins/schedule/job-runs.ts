import type { ScheduledJob } from './contract.ts';

/** Runs of one job in this process. */
export class JobRuns {
  readonly #running = new Set<Promise<void>>();
  readonly #ending = new AbortController();
  readonly #job: ScheduledJob;

  constructor(job: ScheduledJob) {
    this.#job = job;
  }

  /** Whether runs go on, or wait for others. */
  get isBusy(): boolean {
    return this.#running.size > 0;
  }

  get isStopped(): boolean {
    return this.#ending.signal.aborted;
  }

  /** Aborts when the job is stopped. */
  get signal(): AbortSignal {
    return this.#ending.signal;
  }

  /** Starts `work`, whose failure is logged for the owner of the job. */
  start(work: () => Promise<unknown>): void {
    const one: Promise<void> = this.#logFailure(work).finally(() => this.#running.delete(one));
    this.#running.add(one);
  }

  /** The job's own work for one tick. Its failure is logged. */
  work(at: Date): Promise<void> {
    return this.#logFailure(async () => this.#job.run({ at, signal: this.#ending.signal }));
  }

  async #logFailure(work: () => Promise<unknown>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.logError(error);
    }
  }

  /** Logs an error for the owner of the job. */
  logError(error: unknown, message = 'a scheduled job failed'): void {
    const { name, log } = this.#job;
    log.error({ err: error, schedule: name }, message);
  }

  async stop(): Promise<void> {
    this.#ending.abort();
    await Promise.all(this.#running);
  }
}

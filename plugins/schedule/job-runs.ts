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
    const { name, log } = this.#job;
    try {
      await work();
    } catch (error) {
      log.error({ err: error, schedule: name }, 'a scheduled job failed');
    }
  }

  async stop(): Promise<void> {
    this.#ending.abort();
    await Promise.all(this.#running);
  }
}

import type { InterProcessLock } from '../cluster/contract.ts';
import type { JobScheduler, ScheduledJob, ScheduledJobHandle } from './contract.ts';
import { createDueTimes, isCronExpression } from './due-times.ts';
import type { ScheduleTicks } from './schedule-ticks.ts';
import { createTakeOverWatch } from './take-over-watch.ts';
import { startTickTimer } from './timer.ts';

interface Deps {
  readonly ticks: ScheduleTicks;
  readonly lock: Pick<InterProcessLock, 'attempt' | 'run'>;
}

/** Creates the service `schedule`; `stop` stops all its jobs. */
export function createJobScheduler(deps: Deps): JobScheduler & { stop(): void } {
  const jobs = new Map<string, ScheduledJobHandle>();
  return {
    isPattern: isCronExpression,
    start(job) {
      if (jobs.has(job.name)) throw new RangeError(`A job with the name "${job.name}" runs already.`);
      const onStop = () => jobs.delete(job.name);
      const started = job.scope === 'process' ? startProcessJob(job, onStop) : startClusterJob(job, deps, onStop);
      jobs.set(job.name, started);
      return started;
    },
    stop() {
      for (const job of [...jobs.values()]) void job.stop();
    },
  };
}

/** Runs of one job in this process. */
class JobRuns {
  readonly #running = new Set<Promise<void>>();
  readonly #ending = new AbortController();
  readonly #job: ScheduledJob;

  constructor(job: ScheduledJob) {
    this.#job = job;
  }

  /** Whether a tick is left out because the run before has not ended. */
  get isBusy(): boolean {
    return this.#job.overlap !== 'allow' && this.#running.size > 0;
  }

  get isStopped(): boolean {
    return this.#ending.signal.aborted;
  }

  /** Starts `work`, whose failure is logged for the owner of the job. */
  start(work: () => Promise<unknown>): void {
    const { name, log } = this.#job;
    const one: Promise<void> = work()
      .then(
        () => {},
        (error) => log.error({ err: error, schedule: name }, 'a scheduled job failed'),
      )
      .finally(() => this.#running.delete(one));
    this.#running.add(one);
  }

  /** The job's own work for one tick. */
  async work(at: Date): Promise<void> {
    await this.#job.run({ at, signal: this.#ending.signal });
  }

  async stop(): Promise<void> {
    this.#ending.abort();
    await Promise.all(this.#running);
  }
}

function startProcessJob(job: ScheduledJob, onStop: () => void): ScheduledJobHandle {
  const runs = new JobRuns(job);
  const stopTimer = startTickTimer(createDueTimes(job), (at) => {
    if (!runs.isBusy) runs.start(() => runs.work(at));
  });
  return {
    async stop() {
      stopTimer();
      onStop();
      await runs.stop();
    },
  };
}

function startClusterJob(job: ScheduledJob, { ticks, lock }: Deps, onStop: () => void): ScheduledJobHandle {
  const { name, overlap = 'skip', missed = 'skip', log } = job;
  const runs = new JobRuns(job);
  const dueTimes = createDueTimes(job);
  const since = new Date();

  /** Runs a claimed tick. A process that stops before the run leaves the tick to another one. */
  async function runClaimed(at: Date): Promise<void> {
    if (runs.isStopped) return;
    try {
      await runs.work(at);
    } finally {
      await ticks.finish(name, at);
    }
  }

  async function runTick(at: Date): Promise<void> {
    if (await ticks.claim(name, at)) await runClaimed(at);
    else watch.start();
  }

  /** Locked before it is claimed: a tick that is left out because another process still runs the one before stays unclaimed. */
  async function runUnderLock(at: Date): Promise<void> {
    if (overlap === 'allow') return runTick(at);
    const done = await lock.attempt(`schedule ${name}`, () => runTick(at));
    if (!done) watch.start();
  }

  /** Unlike a tick whose time comes, one that was taken over is claimed already, and waits until a run elsewhere has ended. */
  const runTaken = (at: Date) =>
    overlap === 'allow' ? runClaimed(at) : lock.run(`schedule ${name}`, () => runClaimed(at));
  const watch = createTakeOverWatch({ name, since, ticks, log, run: (at) => runs.start(() => runTaken(at)) });
  const stopTimer = startTickTimer(dueTimes, (at) => {
    if (!runs.isBusy) runs.start(() => runUnderLock(at));
  });

  async function catchUp(): Promise<void> {
    await watch.look(new Date(0));
    const last = await ticks.last(name, since);
    const due = dueTimes.previous(since);
    if (due && due > last && !runs.isBusy && !runs.isStopped) runs.start(() => runUnderLock(due));
  }
  const catchingUp =
    missed === 'once'
      ? catchUp().catch((error) => {
          if (!runs.isStopped) log.error({ err: error, schedule: name }, 'missed ticks of a job cannot be read');
        })
      : undefined;

  return {
    async stop() {
      stopTimer();
      watch.stop();
      onStop();
      await runs.stop();
      // A service that stops right after its start still has the database until this has ended.
      await catchingUp;
    },
  };
}

import type { InterProcessLock } from '../cluster/contract.ts';
import type { JobScheduler, ScheduledJob, ScheduledJobHandle } from './contract.ts';
import { createNextDueTimeFinder, isCronExpression } from './next-due-time.ts';
import { startTickTimer } from './timer.ts';

interface Deps {
  /** Claims a tick of a job: answers true in one of all processes. */
  readonly claim: (name: string, tick: Date) => Promise<boolean>;
  readonly lock: Pick<InterProcessLock, 'attempt'>;
}

/** Creates the service `schedule`; `stop` stops all its jobs. */
export function createJobScheduler(deps: Deps): JobScheduler & { stop(): void } {
  const jobs = new Map<string, ScheduledJobHandle>();
  return {
    isPattern: isCronExpression,
    start(job) {
      if (jobs.has(job.name)) throw new RangeError(`A job with the name "${job.name}" runs already.`);
      const started = startJob(job, deps, () => jobs.delete(job.name));
      jobs.set(job.name, started);
      return started;
    },
    stop() {
      for (const job of [...jobs.values()]) void job.stop();
    },
  };
}

function startJob(job: ScheduledJob, { claim, lock }: Deps, onStop: () => void): ScheduledJobHandle {
  const { name, scope = 'cluster', overlap = 'skip', log } = job;
  const ending = new AbortController();
  const runs = new Set<Promise<void>>();

  async function runOnce(at: Date): Promise<void> {
    if (scope === 'cluster' && !(await claim(name, at))) return;
    if (!ending.signal.aborted) await job.run({ at, signal: ending.signal });
  }

  async function run(at: Date): Promise<void> {
    try {
      // Locked before it is claimed: a tick that is skipped here because another process still runs the one before stays unclaimed.
      if (scope === 'cluster' && overlap === 'skip') await lock.attempt(`schedule ${name}`, () => runOnce(at));
      else await runOnce(at);
    } catch (error) {
      log.error({ err: error, schedule: name }, 'a scheduled job failed');
    }
  }

  const stopTimer = startTickTimer(createNextDueTimeFinder(job), (at) => {
    if (overlap === 'skip' && runs.size > 0) return;
    const one: Promise<void> = run(at).finally(() => runs.delete(one));
    runs.add(one);
  });

  return {
    async stop() {
      stopTimer();
      ending.abort();
      onStop();
      await Promise.all(runs);
    },
  };
}

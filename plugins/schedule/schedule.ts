import { ClusterJob, type ClusterJobDeps } from './cluster-job.ts';
import type { JobScheduler, ScheduledJob, ScheduledJobHandle } from './contract.ts';
import { createDueTimes, isCronExpression } from './due-times.ts';
import { JobRuns } from './job-runs.ts';
import { startTickTimer } from './timer.ts';

/** Creates the service `schedule`; `stop` stops all its jobs. */
export function createJobScheduler(deps: ClusterJobDeps): JobScheduler & { stop(): void } {
  const jobs = new Map<string, ScheduledJobHandle>();
  return {
    isPattern: isCronExpression,
    start(job) {
      if (jobs.has(job.name)) throw new RangeError(`A job with the name "${job.name}" runs already.`);
      const onStop = () => jobs.delete(job.name);
      const started = job.scope === 'process' ? startProcessJob(job, onStop) : new ClusterJob(job, deps, onStop);
      jobs.set(job.name, started);
      return started;
    },
    stop() {
      for (const job of [...jobs.values()]) void job.stop();
    },
  };
}

function startProcessJob(job: ScheduledJob, onStop: () => void): ScheduledJobHandle {
  const runs = new JobRuns(job);
  const stopTimer = startTickTimer(createDueTimes(job), (at) => {
    if (job.overlap === 'allow' || !runs.isBusy) runs.start(() => runs.work(at));
  });
  return {
    async stop() {
      stopTimer();
      onStop();
      await runs.stop();
    },
  };
}

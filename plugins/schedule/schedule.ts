import type { InterProcessLock } from '../cluster/contract.ts';
import { type JobScheduler, MAX_WAITING_TICKS, type ScheduledJob, type ScheduledJobHandle } from './contract.ts';
import { createDueTimes, dueTimesBetween, isCronExpression } from './due-times.ts';
import { JobRuns } from './job-runs.ts';
import type { ScheduleTicks } from './schedule-ticks.ts';
import { createTakeOverWatch } from './take-over-watch.ts';
import { startTickTimer } from './timer.ts';
import { createRunWaitingTicks, lockNameOf } from './waiting-ticks.ts';

interface Deps {
  readonly ticks: ScheduleTicks;
  readonly lock: Pick<InterProcessLock, 'attempt'>;
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

const BEGINNING = new Date(0);

function startClusterJob(job: ScheduledJob, { ticks, lock }: Deps, onStop: () => void): ScheduledJobHandle {
  const { name, overlap = 'skip', missed = 'skip', missedSince = 'last', log } = job;
  const runs = new JobRuns(job);
  const dueTimes = createDueTimes(job);
  const started = new Date();
  const running = new Set<number>();

  /** Runs a tick of this process. One that stops before the run leaves the tick to another one. */
  async function runClaimed(at: Date): Promise<void> {
    if (runs.isStopped) return;
    running.add(at.getTime());
    try {
      await runs.work(at);
      await ticks.finish(name, at);
    } finally {
      running.delete(at.getTime());
    }
  }

  // Earlier ticks whose run has not ended are missed ones, unless they were put in a queue.
  const since = missed === 'skip' && overlap !== 'queue' ? started : BEGINNING;
  const runWaiting = createRunWaitingTicks({
    name,
    since,
    ticks,
    lock,
    run: runClaimed,
    isRunning: (tick) => running.has(tick.getTime()),
    isStopped: () => runs.isStopped,
    onBlocked: () => watch.start(),
  });
  async function takeOver(): Promise<boolean> {
    const { taken, isWatched } = await ticks.takeOver(name, since);
    for (const tick of taken) runs.start(() => runClaimed(tick));
    return isWatched;
  }
  const watch = createTakeOverWatch({
    name,
    log,
    async look() {
      const isAnyWatched = overlap === 'allow' && (await takeOver());
      // Looked at before the lock is taken: a tick whose time comes while it is held would be left out.
      const { isLeft, isWatched } = await ticks.look(name, since);
      if (isLeft) runs.start(runWaiting);
      return isAnyWatched || isWatched || isLeft;
    },
  });

  let isQueueFull = false;
  async function enqueue(all: readonly Date[]): Promise<void> {
    const { isFull } = await ticks.enqueue(name, all, MAX_WAITING_TICKS);
    if (isFull && !isQueueFull)
      log.warn({ schedule: name }, `ticks of a job are left out: ${MAX_WAITING_TICKS} of them wait already`);
    isQueueFull = isFull;
    await runWaiting();
  }

  async function runTick(at: Date): Promise<void> {
    if (await ticks.claim(name, at)) await runClaimed(at);
    else watch.start();
  }
  /** Locked before it is claimed: a tick that is left out because another process still runs the one before stays unclaimed. */
  async function runUnderLock(at: Date): Promise<void> {
    const done = await lock.attempt(lockNameOf(name), () => runTick(at));
    if (!done) watch.start();
  }
  const stopTimer = startTickTimer(dueTimes, (at) => {
    if (overlap === 'queue') runs.start(() => enqueue([at]));
    else if (overlap === 'allow') runs.start(() => runTick(at));
    else if (!runs.isBusy) runs.start(() => runUnderLock(at));
  });

  async function catchUp(): Promise<void> {
    if (missedSince === 'now') return ticks.skipTo(name, dueTimes.previous(started) ?? started);
    if (missed === 'skip') return overlap === 'queue' ? runWaiting() : undefined;
    if (overlap === 'allow') await takeOver();
    const last = await ticks.last(name, started);
    await enqueue(dueTimesBetween(dueTimes, last, started, missed === 'once' ? 1 : MAX_WAITING_TICKS));
  }
  runs.start(() =>
    catchUp().catch((error) => {
      if (!runs.isStopped) throw error;
    }),
  );

  return {
    async stop() {
      stopTimer();
      watch.stop();
      onStop();
      // A service that stops right after its start still has the database until this has ended.
      await runs.stop();
    },
  };
}

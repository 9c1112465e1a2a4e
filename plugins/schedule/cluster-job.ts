import type { InterProcessLock } from '../cluster/contract.ts';
import { MAX_WAITING_TICKS, type ScheduledJob, type ScheduledJobHandle } from './contract.ts';
import { createDueTimes, type DueTimes, dueTimesBetween } from './due-times.ts';
import { JobRuns } from './job-runs.ts';
import { PendingTicks } from './pending-ticks.ts';
import type { ScheduleTicks } from './schedule-ticks.ts';
import { createTakeOverWatch, type TakeOverWatch } from './take-over-watch.ts';
import { startTickTimer } from './timer.ts';
import { createRunWaitingTicks, lockNameOf } from './waiting-ticks.ts';

export interface ClusterJobDeps {
  readonly ticks: ScheduleTicks;
  readonly lock: Pick<InterProcessLock, 'attempt'>;
}

const BEGINNING = new Date(0);

/** A job of which one process of all on the database runs each tick. */
export class ClusterJob implements ScheduledJobHandle {
  readonly #job: ScheduledJob;
  readonly #deps: ClusterJobDeps;
  readonly #onStop: () => void;
  readonly #runs: JobRuns;
  readonly #dueTimes: DueTimes;
  readonly #started = new Date();
  /** Earlier ticks whose run has not ended are left alone: they are missed ones, unless they were put in a queue. */
  readonly #since: Date;
  /** Ticks that run in this process. */
  readonly #running = new Set<number>();
  readonly #pending: PendingTicks;
  readonly #runWaiting: () => Promise<void>;
  readonly #watch: TakeOverWatch;
  readonly #stopTimer: () => void;
  #isQueueFull = false;

  /** @throws RangeError where `at` is no cron expression and no positive interval. */
  constructor(job: ScheduledJob, deps: ClusterJobDeps, onStop: () => void) {
    const { name, overlap, missed = 'skip', log } = job;
    this.#job = job;
    this.#deps = deps;
    this.#onStop = onStop;
    this.#dueTimes = createDueTimes(job);
    const runs = new JobRuns(job);
    this.#runs = runs;
    this.#since = missed === 'skip' && overlap !== 'queue' ? this.#started : BEGINNING;
    this.#watch = createTakeOverWatch({ name, log, look: () => this.#look() });
    this.#runWaiting = createRunWaitingTicks({
      name,
      since: this.#since,
      ...deps,
      run: (tick) => this.#runClaimed(tick),
      // The claim of a pending tick may be recorded although its answer was lost with the connection.
      isRunning: (tick) => this.#running.has(tick.getTime()) || this.#pending.has(tick),
      isStopped: () => runs.isStopped,
      onBlocked: () => this.#watch.start(),
    });
    const isSkipped = overlap === undefined || overlap === 'skip';
    this.#pending = new PendingTicks({
      take: (at) => this.#take(at),
      max: isSkipped ? 1 : MAX_WAITING_TICKS,
      maxAfterFailure: overlap === 'queue' ? MAX_WAITING_TICKS : 1,
      signal: runs.signal,
      onFailure: (error) => runs.logError(error, 'a tick of a scheduled job could not be taken, and is tried again'),
    });
    this.#stopTimer = startTickTimer(this.#dueTimes, (at) => {
      const { isActive } = this.#pending;
      // A tick that is not taken yet is no run that this one could overlap with.
      const isBusy = isActive ? this.#running.size > 0 : runs.isBusy;
      if (isSkipped && isBusy) return;
      this.#pending.add(at);
      if (!isActive) runs.start(() => this.#pending.takeAll());
    });
    runs.start(() =>
      this.#catchUp().catch((error) => {
        if (!runs.isStopped) throw error;
      }),
    );
  }

  async stop(): Promise<void> {
    this.#stopTimer();
    this.#watch.stop();
    this.#onStop();
    // A service that stops right after its start still has the database until this has ended.
    await this.#runs.stop();
  }

  /** Runs a tick of this process. One that stops before the run leaves the tick to another one. */
  async #runClaimed(at: Date): Promise<void> {
    if (this.#runs.isStopped) return;
    this.#running.add(at.getTime());
    try {
      await this.#runs.work(at);
      await this.#deps.ticks.finish(this.#job.name, at);
    } finally {
      this.#running.delete(at.getTime());
    }
  }

  /** Starts the run of a due tick, or leaves it to the process that has it. Rejects only where no run was started. */
  async #take(at: Date): Promise<void> {
    const { overlap } = this.#job;
    if (overlap === 'queue') {
      await this.#enqueue([at]);
      this.#runs.start(this.#runWaiting);
    } else if (overlap === 'allow') {
      if (await this.#claim(at)) this.#runs.start(() => this.#runClaimed(at));
    } else await this.#runUnderLock(at);
  }

  /** Whether this process runs the tick; where another one does, it is watched. */
  async #claim(at: Date): Promise<boolean> {
    const isMine = await this.#deps.ticks.claim(this.#job.name, at);
    if (!isMine) this.#watch.start();
    return isMine;
  }

  /** Locked before it is claimed: a tick that is left out because another process still runs the one before stays unclaimed. */
  async #runUnderLock(at: Date): Promise<void> {
    let isMine = false;
    try {
      const done = await this.#deps.lock.attempt(lockNameOf(this.#job.name), async () => {
        isMine = await this.#claim(at);
        if (!isMine) return;
        this.#pending.dropWaiting();
        await this.#runClaimed(at);
      });
      if (!done) this.#watch.start();
    } catch (error) {
      if (!isMine) throw error;
      this.#runs.logError(error);
    }
  }

  async #enqueue(all: readonly Date[]): Promise<void> {
    const { name, log } = this.#job;
    const { isFull } = await this.#deps.ticks.enqueue(name, all, MAX_WAITING_TICKS);
    if (isFull && !this.#isQueueFull)
      log.warn({ schedule: name }, `ticks of a job are left out: ${MAX_WAITING_TICKS} of them wait already`);
    this.#isQueueFull = isFull;
  }

  /** Looks once for ticks that other processes have left; whether it is worth to look again. */
  async #look(): Promise<boolean> {
    const { name, overlap } = this.#job;
    const isAnyWatched = overlap === 'allow' && (await this.#takeOver());
    // Looked at before the lock is taken: a tick whose time comes while it is held would be left out.
    const { isLeft, isWatched } = await this.#deps.ticks.look(name, this.#since);
    if (isLeft) this.#runs.start(this.#runWaiting);
    return isAnyWatched || isWatched || isLeft;
  }

  async #takeOver(): Promise<boolean> {
    const { taken, isWatched } = await this.#deps.ticks.takeOver(this.#job.name, this.#since);
    for (const tick of taken) this.#runs.start(() => this.#runClaimed(tick));
    return isWatched;
  }

  /** Begins with ticks that came while no process was up, and with those that wait. */
  async #catchUp(): Promise<void> {
    const { name, overlap, missed = 'skip', missedSince } = this.#job;
    const { ticks } = this.#deps;
    if (missedSince === 'now') return ticks.skipTo(name, this.#dueTimes.previous(this.#started) ?? this.#started);
    if (missed === 'skip') return overlap === 'queue' ? this.#runWaiting() : undefined;
    if (overlap === 'allow') await this.#takeOver();
    const last = await ticks.last(name, this.#started);
    const count = missed === 'once' ? 1 : MAX_WAITING_TICKS;
    await this.#enqueue(dueTimesBetween(this.#dueTimes, last, this.#started, count));
    await this.#runWaiting();
  }
}

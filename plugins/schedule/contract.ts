import { type Log, service } from '#kernel';

/** One due time of a job. */
export interface ScheduledJobTick {
  /** The nominal time, equal in all processes; the run begins at it or a little later. */
  readonly at: Date;
  /** Aborts when the job is stopped. */
  readonly signal: AbortSignal;
}

/** Work that runs by a cron expression or at intervals, and how processes share it. */
export interface ScheduledJob {
  /**
   * The name of the job, equal in all processes in the scope `cluster`, since they agree by it on who runs a tick. A process has
   * one job of a name at a time.
   */
  readonly name: string;
  /**
   * A cron expression of five positions, or of six with seconds first, in the time zone of the process; or an interval in
   * milliseconds: whole intervals of the clock in the scope `cluster`, and whole intervals since the start in the scope `process`.
   */
  readonly at: string | { readonly every: number };
  /** `cluster`, the default: one process of all on the database runs a tick. `process`: each process runs it. */
  readonly scope?: 'cluster' | 'process';
  /**
   * What happens to a tick that comes while the job still runs. `skip`, the default: the tick is left out; in the scope `cluster`
   * also where another process runs the job. `allow`: both run. `queue`, in the scope `cluster` only: the tick waits until those before
   * it have ended, in whatever process; at most MAX_WAITING_TICKS wait, and further ones are left out.
   */
  readonly overlap?: 'skip' | 'allow' | 'queue';
  /**
   * What happens to ticks that came while no process was up. `skip`, the default: they are left out. `once`: the last of them runs when
   * the first process starts the job. `all`: the last MAX_WAITING_TICKS of them run, one after the other. With both also one that a
   * process had begun when it died. In the scope `cluster` only.
   */
  readonly missed?: 'skip' | 'once' | 'all';
  /**
   * Which ticks were missed. `last`, the default: all since the last one. `now`: none, and ticks that wait are dropped, for a job whose
   * schedule has been changed while processes were up.
   */
  readonly missedSince?: 'last' | 'now';
  /** The log of the job's owner. What `run` throws is an error there, under the name of the owner. */
  readonly log: Pick<Log, 'error' | 'warn'>;
  /** The work of one tick; a promise is awaited. */
  readonly run: (tick: ScheduledJobTick) => unknown;
}

/** A started job. */
export interface ScheduledJobHandle {
  /**
   * Stops the job: no tick begins any more, and the signals of its runs abort. Resolves when the runs of this process have ended.
   * Never rejects.
   */
  stop(): Promise<void>;
}

/**
 * Runs jobs by cron expressions or at intervals. A tick that a process reaches late runs late, and the ticks it has missed meanwhile
 * are skipped. In the scope `cluster` another process runs the tick of one that died before its run had ended. A waiting job does not
 * keep the process running.
 */
export interface JobScheduler {
  /** Whether `text` is a cron expression that `start` takes. */
  isPattern(text: string): boolean;
  /**
   * Starts a job. It stops with the service at the latest.
   * @throws RangeError where `at` is no cron expression or no positive interval, and where the name is taken.
   */
  start(job: ScheduledJob): ScheduledJobHandle;
}

/** Ticks of one job that may wait for their runs at a time. */
export const MAX_WAITING_TICKS = 1000;

/** The service that runs scheduled jobs, for every plugin with periodic work. */
export const schedule = service<JobScheduler>('schedule', { version: '1.0.0' });

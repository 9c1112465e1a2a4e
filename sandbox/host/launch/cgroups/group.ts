import { availableParallelism } from 'node:os';

/** What one child may use. */
export interface ControlGroupLimits {
  /** Bytes that the child and the processes of bubblewrap may use, swap included. */
  readonly memory: number;
  /** Processes and threads. */
  readonly tasks: number;
}

/** Counters of the operating system for one control group. */
export interface ControlGroupCounters {
  /** Processes killed because the group was at its memory limit. */
  readonly outOfMemory: number;
  /** Starts of threads and processes that were refused at the task limit. */
  readonly refused: number;
  /** Periods in which the group waited because its CPU share was used up. */
  readonly throttled: number;
}

/** The control group of one child. A process that a member starts is a member as well. */
export interface ControlGroup {
  /** Paths of the files `cgroup.procs`. A process joins the group by writing its id to each of them. */
  readonly procsFiles: readonly string[];
  /** Moves a process into the group before it starts others. Throws where it has ended. */
  join(pid: number): void;
  /**
   * Limits the group to this share of a core, by default `CHILD_CPU_CORES`. Does nothing where CPU time cannot be limited.
   */
  throttle(share?: number): void;
  /** Sets another limit of processes and threads. */
  limitTasks(tasks: number): void;
  tasks(): number;
  counters(): ControlGroupCounters;
  /** Sends SIGKILL to every process of the group. */
  kill(): void;
  /** Kills remaining processes and removes the group. False where one of them does not end. */
  remove(): Promise<boolean>;
}

export interface CgroupFactory {
  readonly mechanic: 'cgroup-v2' | 'cgroup-v1';
  /** Throws where the kernel cannot create another group. */
  createGroup(limits: ControlGroupLimits): ControlGroup;
  /** Removes the folders of the service, after all groups were removed. */
  close(): Promise<void>;
}

/**
 * Cores that a child gets: one for the thread that runs guests and a quarter for garbage collection, but never all
 * cores of the machine.
 */
export const CHILD_CPU_CORES = Math.max(0.5, Math.min(1.25, availableParallelism() - 0.5));
export const CPU_PERIOD_US = 100_000;

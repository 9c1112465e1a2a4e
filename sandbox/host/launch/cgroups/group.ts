import { availableParallelism } from 'node:os';

/** What one child may use. */
export interface GroupLimits {
  /** Bytes, of everything the child and what carries it touch; swap counts. */
  readonly memory: number;
  /** Processes and threads. */
  readonly tasks: number;
}

/** What the kernel counted against a group. */
export interface GroupCounters {
  /** Processes killed because the group was at its memory limit. */
  readonly outOfMemory: number;
  /** Threads and processes refused. */
  readonly refused: number;
  /** Periods in which it had to wait for its share of the processor. */
  readonly throttled: number;
}

/** The control group of one child. A process that a member starts is a member as well. */
export interface ControlGroup {
  /** A process joins by writing its id to each of these. */
  readonly procsFiles: readonly string[];
  /** Moves a process that has not started others yet; throws where it is gone. */
  join(pid: number): void;
  /** From now on this share of a core, `SHARE` unless told; nothing where the processor cannot be limited here. */
  throttle(share?: number): void;
  /** Another bound for processes and threads. */
  limitTasks(tasks: number): void;
  tasks(): number;
  counters(): GroupCounters;
  /** SIGKILL to everything inside. */
  kill(): void;
  /** Kills what is left and removes the group; false where something in it would not end. */
  remove(): Promise<boolean>;
}

export interface Cgroups {
  readonly mechanic: 'cgroup-v2' | 'cgroup-v1';
  /** Throws where the kernel has no room for another one. */
  createGroup(limits: GroupLimits): ControlGroup;
  /** Removes the service's own folders. All groups are gone before. */
  close(): Promise<void>;
}

/**
 * Cores that a child gets: one for the thread that runs guests and a quarter for what collects their garbage beside it,
 * but never all there are. And the time in microseconds in which that is counted.
 */
export const CPU_SHARE = Math.max(0.5, Math.min(1.25, availableParallelism() - 0.5));
export const CPU_PERIOD_US = 100_000;

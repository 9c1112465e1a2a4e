/** Timeouts, intervals and limits of the supervisor; times in milliseconds. Tests use shorter ones. */
export interface SupervisorBounds {
  /** From the launch of a process until the hello of its runner. */
  readonly helloTimeout: number;
  /** A program's process without work is ended after this; so is the spare process, when no program has a process. */
  readonly idleTimeout: number;
  /**
   * From the first call of a program until the next spare starts, since a start blocks the service for some
   * milliseconds.
   */
  readonly spareDelay: number;
  /** Between two checks of idle and growing processes. */
  readonly sweepInterval: number;
  /**
   * Time after a deadline within which a process must answer a ping. It is long enough for a process that waits for a
   * core.
   */
  readonly healthTimeout: number;
  /** Invocations of one program at the same time. Further ones are `busy`. */
  readonly maxInFlight: number;
  /** Bytes of inputs that wait for a process or an execution slot, over all programs. */
  readonly maxQueuedBytes: number;
  /** After serving this long a process may be retired for a program that waits for one. */
  readonly minService: number;
  /** Between two attempts to make room while programs wait for a process. */
  readonly claimInterval: number;
  /** Between two checks of the memory of all processes together. */
  readonly memoryInterval: number;
  /** Between two checks of the CPU time of a busy process. */
  readonly cpuInterval: number;
  /** Number of concurrent invocations in one process from which on the lag of the process is measured. */
  readonly crowdSize: number;
  /** Lag of a process in milliseconds from which on a stateless program gets a helper process. */
  readonly maxLag: number;
  /** An idle helper process ends after this, and so does an idle process that has grown. */
  readonly calmTimeout: number;
  /** A process that has served this many invocations is replaced. */
  readonly maxServed: number;
  /** First and longest restart delay of a program that crashes repeatedly. The first restart is immediate. */
  readonly firstDelay: number;
  readonly longestDelay: number;
  /** A process that served this long resets the restart delay. */
  readonly goodService: number;
  /** This many crashes within `crashWindow` park a program. */
  readonly maxCrashes: number;
  readonly crashWindow: number;
  /**
   * Invocations that exhaust their CPU time within this time of each other count once, since they may share a realm.
   */
  readonly incidentWindow: number;
  /** How long a probe waits for a process when all are busy. */
  readonly probeTimeout: number;
}

export const DEFAULT_SUPERVISOR_BOUNDS: SupervisorBounds = {
  helloTimeout: 10_000,
  idleTimeout: 5 * 60_000,
  spareDelay: 100,
  sweepInterval: 10_000,
  healthTimeout: 1_000,
  maxInFlight: 64,
  maxQueuedBytes: 32 * 1024 * 1024,
  minService: 1_000,
  claimInterval: 100,
  memoryInterval: 500,
  cpuInterval: 100,
  crowdSize: 8,
  maxLag: 4,
  calmTimeout: 10_000,
  maxServed: 50_000,
  firstDelay: 100,
  longestDelay: 30_000,
  goodService: 60_000,
  maxCrashes: 5,
  crashWindow: 60_000,
  incidentWindow: 100,
  probeTimeout: 5_000,
};

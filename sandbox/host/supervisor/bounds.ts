/** How the supervisor paces itself; times in milliseconds. Tests use shorter ones. */
export interface SupervisorBounds {
  /** From the launch of a process until its runner has said hello. */
  readonly helloTimeout: number;
  /** A program's process without work is ended after this; the spare too, when no program has one. */
  readonly idleTimeout: number;
  /** From a first call until the next spare is started: a start stops the service for some milliseconds. */
  readonly spareDelay: number;
  /** Between two looks at idle and growing processes. */
  readonly sweepInterval: number;
  /** How soon after a deadline a process must prove that nothing holds it up. One that waits for a core is not held up. */
  readonly healthTimeout: number;
  /** Of one program at the same time; more is busy. */
  readonly maxInFlight: number;
  /** Bytes of inputs that wait for a process or a place, of all programs together. */
  readonly maxQueuedBytes: number;
  /** A process that has served its program for so long makes room for a program that waits for one. */
  readonly minService: number;
  /** Between two looks for room while programs wait for a process. */
  readonly claimInterval: number;
  /** Between two looks at the memory of all processes together. */
  readonly memoryInterval: number;
  /** Between two looks at the CPU time of a process at work. */
  readonly cpuInterval: number;
  /** As many at the same time in one process are a crowd: it is asked whether it keeps up. */
  readonly crowdSize: number;
  /** Where it takes so long to answer, a program without state gets a second process. */
  readonly maxLag: number;
  /** The second process without work is ended after this, and so is one that has grown. */
  readonly calmTimeout: number;
  /** A process that has served so many is replaced. */
  readonly maxServed: number;
  /** First and longest wait of a program that crashes again and again; the first restart is immediate. */
  readonly firstDelay: number;
  readonly longestDelay: number;
  /** A process that served so long makes the next restart immediate again. */
  readonly goodService: number;
  /** So many crashes within `crashWindow` park a program. */
  readonly maxCrashes: number;
  readonly crashWindow: number;
  /** Invocations that are stopped within this time of each other, as those that share a context, are one mishap. */
  readonly incidentWindow: number;
  /** Waiting for a process to probe with, when all are at work. */
  readonly probeTimeout: number;
}

export const DEFAULT_BOUNDS: SupervisorBounds = {
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

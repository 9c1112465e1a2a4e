/** How the supervisor paces itself; times in milliseconds. Tests use shorter ones. */
export interface Bounds {
  /** From the launch of a process until its runner has said hello. */
  readonly hello: number;
  /** A program's process without work is ended after this; the spare too, when no program has one. */
  readonly idle: number;
  /** From a first call until the next spare is started: a start stops the service for some milliseconds. */
  readonly soon: number;
  /** Between two looks at idle and growing processes. */
  readonly sweep: number;
  /** How soon after a deadline a process must prove that nothing holds it up. One that waits for a core is not held up. */
  readonly health: number;
  /** Of one program at the same time; more is busy. */
  readonly inFlight: number;
  /** Bytes of inputs that wait for a process or a place, of all programs together. */
  readonly queuedBytes: number;
  /** A process that has served its program for so long makes room for a program that waits for one. */
  readonly turn: number;
  /** Between two looks for room while programs wait for a process. */
  readonly claims: number;
  /** Between two looks at the memory of all processes together. */
  readonly memory: number;
  /** Between two looks at the CPU time of a process at work. */
  readonly cpu: number;
  /** As many at the same time in one process are a crowd: it is asked whether it keeps up. */
  readonly crowd: number;
  /** Where it takes so long to answer, a program without state gets a second process. */
  readonly lag: number;
  /** The second process without work is ended after this, and so is one that has grown. */
  readonly calm: number;
  /** A process that has served so many is replaced. */
  readonly served: number;
  /** First and longest wait of a program that crashes again and again; the first restart is immediate. */
  readonly firstDelay: number;
  readonly longestDelay: number;
  /** A process that served so long makes the next restart immediate again. */
  readonly goodService: number;
  /** So many crashes within `crashWindow` park a program. */
  readonly crashes: number;
  readonly crashWindow: number;
  /** Invocations that are stopped within this time of each other, as those that share a context, are one mishap. */
  readonly together: number;
  /** Waiting for a process to probe with, when all are at work. */
  readonly probeWait: number;
}

export const BOUNDS: Bounds = {
  hello: 10_000,
  idle: 5 * 60_000,
  soon: 100,
  sweep: 10_000,
  health: 1_000,
  inFlight: 64,
  queuedBytes: 32 * 1024 * 1024,
  turn: 1_000,
  claims: 100,
  memory: 500,
  cpu: 100,
  crowd: 8,
  lag: 4,
  calm: 10_000,
  served: 50_000,
  firstDelay: 100,
  longestDelay: 30_000,
  goodService: 60_000,
  crashes: 5,
  crashWindow: 60_000,
  together: 100,
  probeWait: 5_000,
};

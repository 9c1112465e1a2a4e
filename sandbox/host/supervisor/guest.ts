import type { Limits } from '../../protocol/messages.ts';
import type { Bounds } from './bounds.ts';
import type { Cause } from './cause.ts';
import { RunFailure } from './failure.ts';
import type { Fleet } from './fleet.ts';
import { Helper } from './helper.ts';
import type { PlaceClaim } from './places.ts';
import type { Program } from './program.ts';
import { reportLoss, reportParked } from './report.ts';
import type { Answer, Run } from './run.ts';
import { RunQueue } from './run-queue.ts';
import { Stability } from './stability.ts';
import type { Worker } from './worker.ts';

interface Parts {
  readonly fleet: Fleet;
  readonly limits: Limits;
  readonly bounds: Bounds;
  readonly now: () => number;
  readonly log: { warn(data: object, text: string): void };
  /** It is closed. */
  left(): void;
}

/**
 * One program and its process; in a crowd, a second one that helps it, unless the program keeps state between
 * invocations. Older ones may finish what they have.
 */
export class Guest implements PlaceClaim {
  readonly #program: Program;
  readonly #parts: Parts;
  readonly #stability: Stability;
  readonly #queue: RunQueue;
  readonly #workers = new Set<Worker>();
  #current: Worker | undefined;
  #starting: Promise<void> | undefined;
  #isLoading = false;
  readonly #helper: Helper;
  #closed = false;
  /** The current process is to be replaced; not tried again before. */
  #renewAt = Number.POSITIVE_INFINITY;

  constructor(program: Program, parts: Parts) {
    this.#program = program;
    this.#parts = parts;
    this.#stability = new Stability(parts.bounds, parts.now);
    const { limits, now, fleet } = parts;
    this.#queue = new RunQueue({ wall: limits.wall, now, budget: fleet.inputs, isLoading: () => this.#isLoading });
    this.#helper = new Helper({
      bounds: parts.bounds,
      now,
      obtain: (idle) => this.#obtain(idle, () => true),
      isBehind: () => this.#queue.length >= parts.bounds.crowd,
      isCurrent: (worker) => worker === this.#current && !this.#closed,
    });
  }

  /** Invocations at work or waiting. */
  get busy(): number {
    return [...this.#workers].reduce((sum, worker) => sum + worker.busy, this.#queue.length);
  }

  state(): 'idle' | 'running' | 'waiting' | 'parked' {
    if (this.#stability.parked) return 'parked';
    if (this.#current || this.#starting) return 'running';
    return this.#stability.wait() > 0 ? 'waiting' : 'idle';
  }

  /**
   * Rejects with a RunFailure: `busy` at once where too many wait, or the next start after a crash has to wait, and later
   * where no process or place was free in time; `crash` when parked.
   */
  async invoke(run: Run): Promise<Answer> {
    if (this.#closed) throw new RunFailure('internal');
    if (this.#stability.parked) throw new RunFailure('crash');
    if (run.signal?.aborted) throw new RunFailure('timeout');
    if (this.busy >= this.#parts.bounds.inFlight) throw new RunFailure('busy');
    if (!this.#current && !this.#starting && this.#stability.wait() > 0) throw new RunFailure('busy');
    const worker = this.#current && this.#queue.length === 0 ? this.#free(this.#current) : undefined;
    if (worker) return worker.invoke(run);
    const answer = this.#queue.add(run);
    this.#sendQueued();
    return answer;
  }

  /** A place of execution is free. */
  grant(): void {
    const worker = this.#current;
    if (!worker || this.#queue.length === 0) return;
    if (worker.isFull) {
      worker.ping();
      return;
    }
    this.#queue.sendFirst(worker);
    this.#parts.fleet.places.enter(worker);
    this.#sendQueued();
  }

  /** Sends what is queued, as far as there are a process and a place for it. */
  #sendQueued(): void {
    while (this.#current && this.#queue.length > 0) {
      const worker = this.#free(this.#current);
      if (!worker) return;
      this.#queue.sendFirst(worker);
    }
    if (this.#queue.length > 0 && !this.#starting) this.#startForQueue();
  }

  /** The process that may be sent an invocation now, with its place. Where there is none, `grant` or a pong comes later. */
  #free(current: Worker): Worker | undefined {
    const { places } = this.#parts.fleet;
    const helper = this.#helper.worker;
    if (helper?.isFull) helper.ping();
    else if (helper && (current.isFull || helper.busy < current.busy) && places.take(helper)) return helper;
    const isCrowded = current.busy + this.#queue.length >= this.#parts.bounds.crowd && !this.#program.reuse;
    if (isCrowded && !this.#starting) this.#helper.seek(current);
    if (current.isFull) current.ping();
    else if (places.take(current)) return current;
    else places.queue(this);
    return undefined;
  }

  #startForQueue(): void {
    if (this.#stability.wait() > 0) this.#queue.refuse(new RunFailure('busy'));
    else
      this.#starting = this.#start(0).finally(() => {
        this.#starting = undefined;
        this.#sendQueued();
      });
  }

  restart(): void {
    this.#stability.restart();
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#parts.left();
    this.#parts.fleet.places.withdraw(this);
    this.#queue.refuse(new RunFailure('crash'));
    await Promise.all([this.#starting, this.#helper.seeking, ...[...this.#workers].map((worker) => worker.end())]);
  }

  /** Ends what has been idle for long, replaces what has grown. */
  async sweep(): Promise<void> {
    const { bounds, limits } = this.#parts;
    const helper = this.#helper.worker;
    if (helper && this.#isIdle(helper, bounds.calm)) this.#helper.dismiss();
    const worker = this.#current;
    if (!worker) return;
    if (this.#isIdle(worker, bounds.idle)) return void worker.end();
    const resident = await worker.resident();
    const grown = worker.baseline > 0 ? (resident - worker.baseline) / limits.memory : 0;
    // Without state there is nothing to lose, and the spare takes over at once.
    if (grown > GROWN && !this.#program.reuse && this.#isIdle(worker, bounds.calm)) void worker.end();
    else if (grown > GROWTH) this.#wornOut(worker);
  }

  #isIdle(worker: Worker, since: number): boolean {
    return worker.busy === 0 && this.#parts.now() - worker.idleSince >= since;
  }

  /** Never rejects: whoever waits is told. */
  async #start(idle: number): Promise<void> {
    try {
      this.#serve(await this.#obtain(idle, () => this.#queue.length > 0));
    } catch (error) {
      // The process that serves goes on where no other takes over from it.
      if (!this.#current) this.#queue.refuse(error as RunFailure);
    }
  }

  /** A process with the program in it, if need be in place of one that has been idle for so long. Rejects with a RunFailure. */
  async #obtain(idle: number, isWanted: () => boolean): Promise<Worker> {
    const { fleet } = this.#parts;
    const { script, reuse } = this.#program;
    const worker = await fleet.acquire(idle, isWanted);
    if (this.#closed || worker.state !== 'blank') {
      void worker.end();
      throw new RunFailure(this.#closed ? 'crash' : 'internal');
    }
    this.#workers.add(worker);
    worker.onDown = (cause) => this.#down(worker, cause);
    worker.onSettled = (exhausted) => this.#settled(worker, exhausted);
    worker.onPong = () => this.#confirmed(worker);
    worker.onResumed = () => fleet.places.enter(worker);
    worker.onRetired = () => this.#retire(worker);
    this.#isLoading = true;
    fleet.places.enter(worker);
    try {
      await worker.load(script, reuse);
    } finally {
      this.#isLoading = false;
      fleet.prepareSoon();
    }
    void worker.resident().then((bytes) => (worker.baseline = bytes));
    return worker;
  }

  #serve(worker: Worker): void {
    if (worker.state !== 'ready' || this.#stability.parked) {
      void worker.end();
      this.#queue.refuse(new RunFailure('crash'));
      return;
    }
    const before = this.#current;
    this.#current = worker;
    this.#renewAt = Number.POSITIVE_INFINITY;
    this.#stability.serving();
    if (before?.busy === 0) void before.end();
    // It holds a place since it was loaded: the first invocation goes on with it.
    this.grant();
    if (worker.isWaiting) this.#parts.fleet.places.leave(worker);
  }

  #confirmed(worker: Worker): void {
    this.#parts.fleet.places.report(worker, worker.isWaiting);
    this.#sendQueued();
  }

  /** It does what it has; what arrives from now on waits for another process. */
  #retire(worker: Worker): void {
    if (worker === this.#helper.worker) this.#helper.dismiss();
    worker.isLeaving = true;
    if (worker === this.#current) this.#leaveOff();
  }

  #settled(worker: Worker, exhausted: boolean): void {
    const { fleet } = this.#parts;
    if (worker.isWaiting) fleet.places.leave(worker);
    if (exhausted) this.#exhausted(worker);
    const isWornOut = worker.served >= this.#parts.bounds.served;
    if (worker === this.#helper.worker) {
      if (isWornOut) this.#helper.dismiss();
    } else if (worker === this.#current) {
      if (isWornOut) this.#wornOut(worker);
    } else if (worker.busy === 0) void worker.end();
    if (worker.busy === 0) fleet.offer();
    this.#sendQueued();
  }

  /** A new process takes over and this one finishes what it has; where there is no room for both, once it is idle. */
  #wornOut(worker: Worker): void {
    const { fleet, now, bounds } = this.#parts;
    if (worker !== this.#current || this.#starting) return;
    if (this.#renewAt === Number.POSITIVE_INFINITY) this.#renewAt = now();
    if (fleet.hasRoom() && now() >= this.#renewAt) {
      this.#renewAt = now() + bounds.sweep;
      this.#starting = this.#start(Number.POSITIVE_INFINITY).finally(() => (this.#starting = undefined));
    } else if (worker.busy === 0) void worker.end();
  }

  #down(worker: Worker, cause: Cause): void {
    this.#workers.delete(worker);
    this.#parts.fleet.places.leave(worker);
    if (this.#helper.worker === worker) this.#helper.lost();
    if (this.#current === worker) this.#leaveOff();
    const isParked = cause !== 'asked' && (cause === 'cpu' ? this.#stability.exhausted() : this.#stability.crashed());
    if (isParked) this.#queue.refuse(new RunFailure('crash'));
    this.#sendQueued();
    if (cause === 'asked') return;
    void reportLoss(this.#program, worker, cause, this.#parts.log).then((reason) => {
      if (isParked) reportParked(this.#program, reason, this.#parts);
    });
  }

  /** Nobody takes invocations any more. */
  #leaveOff(): void {
    this.#current = undefined;
    this.#helper.dismiss();
  }

  #exhausted(worker: Worker): void {
    if (!this.#stability.exhausted()) return;
    this.#queue.refuse(new RunFailure('crash'));
    const current = this.#current;
    this.#leaveOff();
    if (current && current.busy === 0) void current.end();
    if (worker.busy === 0) void worker.end();
    reportParked(this.#program, 'it used up its CPU time again and again', this.#parts);
  }
}

/** Of the isolate's memory: what the resident size may gain before a process is replaced, and before an idle one is ended. */
const GROWTH = 0.75;
const GROWN = 0.25;

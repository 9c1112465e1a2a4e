import type { GuestLimits } from '../../protocol/messages.ts';
import type { SupervisorBounds } from './bounds.ts';
import type { ConfinedProgram } from './confined-program.ts';
import { CrashRecord } from './crash-record.ts';
import type { ProcessEndCause } from './end-cause.ts';
import type { ExecutionSlotClaim } from './execution-slots.ts';
import type { InvocationResult, ScriptInvocation } from './invocation.ts';
import { InvocationFailure } from './invocation-failure.ts';
import { InvocationQueue } from './invocation-queue.ts';
import { ProgramHelperProcess } from './overflow-process.ts';
import { logProcessLoss, reportNoFurtherRestart } from './process-loss.ts';
import type { ProcessPool } from './process-pool.ts';
import type { SupervisedProcess } from './supervised-process.ts';

interface SupervisedProgramOptions {
  readonly pool: ProcessPool;
  readonly limits: GuestLimits;
  readonly bounds: SupervisorBounds;
  readonly now: () => number;
  readonly log: { warn(data: object, text: string): void };
  /** Called when the program is closed. */
  onClosed(): void;
}

/**
 * One program with its process and, while many invocations are in flight, a helper process, unless the program is stateful.
 * Replaced processes finish their invocations.
 */
export class SupervisedProgram implements ExecutionSlotClaim {
  readonly #program: ConfinedProgram;
  readonly #options: SupervisedProgramOptions;
  readonly #stability: CrashRecord;
  readonly #queue: InvocationQueue;
  readonly #workers = new Set<SupervisedProcess>();
  #current: SupervisedProcess | undefined;
  #starting: Promise<void> | undefined;
  #isLoading = false;
  readonly #helper: ProgramHelperProcess;
  #closed = false;
  /** Time before which a replacement of the current process is not tried again. */
  #renewAt = Number.POSITIVE_INFINITY;

  constructor(program: ConfinedProgram, options: SupervisedProgramOptions) {
    this.#program = program;
    this.#options = options;
    this.#stability = new CrashRecord(options.bounds, options.now);
    const { limits, now, pool } = options;
    this.#queue = new InvocationQueue({
      wall: limits.wall,
      now,
      budget: pool.inputs,
      isLoading: () => this.#isLoading,
    });
    this.#helper = new ProgramHelperProcess({
      bounds: options.bounds,
      now,
      obtain: (idle) => this.#obtain(idle, () => true),
      isBehind: () => this.#queue.length >= options.bounds.crowdSize,
      isCurrent: (worker) => worker === this.#current && !this.#closed,
    });
  }

  /** Invocations in flight or queued. */
  get busy(): number {
    return [...this.#workers].reduce((sum, worker) => sum + worker.busy, this.#queue.length);
  }

  state(): 'idle' | 'running' | 'waiting' | 'parked' {
    if (this.#stability.isParked) return 'parked';
    if (this.#current || this.#starting) return 'running';
    return this.#stability.wait() > 0 ? 'waiting' : 'idle';
  }

  /**
   * Runs an invocation. Rejects with an InvocationFailure: `busy` at once where too many invocations are in flight or a restart delay
   * runs, later where no process or slot was free in time; `crash` when parked.
   */
  async invoke(run: ScriptInvocation): Promise<InvocationResult> {
    if (this.#closed) throw new InvocationFailure('internal');
    if (this.#stability.isParked) throw new InvocationFailure('crash');
    if (run.signal?.aborted) throw new InvocationFailure('timeout');
    if (this.busy >= this.#options.bounds.maxInFlight) throw new InvocationFailure('busy');
    if (!this.#current && !this.#starting && this.#stability.wait() > 0) throw new InvocationFailure('busy');
    const worker = this.#current && this.#queue.length === 0 ? this.#acquireWorker(this.#current) : undefined;
    if (worker) return worker.invoke(run);
    const answer = this.#queue.add(run);
    this.#sendQueued();
    return answer;
  }

  /** Called when an execution slot is free. */
  onSlotFree(): void {
    const worker = this.#current;
    if (!worker || this.#queue.length === 0) return;
    if (worker.isFull) {
      worker.ping();
      return;
    }
    this.#queue.sendFirst(worker);
    this.#options.pool.slots.enter(worker);
    this.#sendQueued();
  }

  /** Sends queued invocations while a process and a slot are free. */
  #sendQueued(): void {
    while (this.#current && this.#queue.length > 0) {
      const worker = this.#acquireWorker(this.#current);
      if (!worker) return;
      this.#queue.sendFirst(worker);
    }
    if (this.#queue.length > 0 && !this.#starting) this.#startForQueue();
  }

  /**
   * Finds a process that may get an invocation now and takes an execution slot for it. Undefined where there is none:
   * `onSlotFree` or a pong follows.
   */
  #acquireWorker(current: SupervisedProcess): SupervisedProcess | undefined {
    const { slots } = this.#options.pool;
    const helper = this.#helper.worker;
    if (helper?.isFull) helper.ping();
    else if (helper && (current.isFull || helper.busy < current.busy) && slots.take(helper)) return helper;
    const isCrowded = current.busy + this.#queue.length >= this.#options.bounds.crowdSize && !this.#program.reuse;
    if (isCrowded && !this.#starting) this.#helper.seek(current);
    if (current.isFull) current.ping();
    else if (slots.take(current)) return current;
    else slots.queue(this);
    return undefined;
  }

  #startForQueue(): void {
    if (this.#stability.wait() > 0) this.#queue.refuse(new InvocationFailure('busy'));
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
    this.#options.onClosed();
    this.#options.pool.slots.withdraw(this);
    this.#queue.refuse(new InvocationFailure('crash'));
    await Promise.all([this.#starting, this.#helper.seeking, ...[...this.#workers].map((worker) => worker.end())]);
  }

  /** Ends processes that have been idle for long and replaces processes that have grown. */
  async sweep(): Promise<void> {
    const { bounds, limits } = this.#options;
    const helper = this.#helper.worker;
    if (helper && this.#isIdle(helper, bounds.calmTimeout)) this.#helper.dismiss();
    const worker = this.#current;
    if (!worker) return;
    if (this.#isIdle(worker, bounds.idleTimeout)) return void worker.end();
    const resident = await worker.resident();
    const grown = worker.baseline > 0 ? (resident - worker.baseline) / limits.memory : 0;
    // A stateless program loses nothing, and the spare takes over at once.
    if (grown > IDLE_END_GROWTH && !this.#program.reuse && this.#isIdle(worker, bounds.calmTimeout)) void worker.end();
    else if (grown > REPLACE_GROWTH) this.#replace(worker);
  }

  #isIdle(worker: SupervisedProcess, since: number): boolean {
    return worker.busy === 0 && this.#options.now() - worker.idleSince >= since;
  }

  /** Starts a process for the program. Never rejects: a failure is passed to the queued invocations. */
  async #start(idle: number): Promise<void> {
    try {
      this.#serve(await this.#obtain(idle, () => this.#queue.length > 0));
    } catch (error) {
      // The current process continues where no replacement is available.
      if (!this.#current) this.#queue.refuse(error as InvocationFailure);
    }
  }

  /**
   * A process with the program loaded, if necessary in place of one that has been idle for `idle` milliseconds. Rejects with a
   * InvocationFailure.
   */
  async #obtain(idle: number, isNeeded: () => boolean): Promise<SupervisedProcess> {
    const { pool } = this.#options;
    const { script, reuse } = this.#program;
    const worker = await pool.acquire(idle, isNeeded);
    if (this.#closed || worker.state !== 'blank') {
      void worker.end();
      throw new InvocationFailure(this.#closed ? 'crash' : 'internal');
    }
    this.#workers.add(worker);
    worker.onDown = (cause) => this.#onDown(worker, cause);
    worker.onSettled = (exhausted) => this.#onSettled(worker, exhausted);
    worker.onPong = () => this.#onPong(worker);
    worker.onResumed = () => pool.slots.enter(worker);
    worker.onRetired = () => this.#retire(worker);
    this.#isLoading = true;
    pool.slots.enter(worker);
    try {
      await worker.load(script, reuse);
    } finally {
      this.#isLoading = false;
      pool.prepareSpareSoon();
    }
    void worker.resident().then((bytes) => (worker.baseline = bytes));
    return worker;
  }

  #serve(worker: SupervisedProcess): void {
    if (worker.state !== 'ready' || this.#stability.isParked) {
      void worker.end();
      this.#queue.refuse(new InvocationFailure('crash'));
      return;
    }
    const before = this.#current;
    this.#current = worker;
    this.#renewAt = Number.POSITIVE_INFINITY;
    this.#stability.recordServing();
    if (before?.busy === 0) void before.end();
    // The process holds a slot since loading, and the first invocation continues with it.
    this.onSlotFree();
    if (worker.isWaiting) this.#options.pool.slots.leave(worker);
  }

  #onPong(worker: SupervisedProcess): void {
    this.#options.pool.slots.report(worker, worker.isWaiting);
    this.#sendQueued();
  }

  /** Lets the process finish its invocations. New ones wait for another process. */
  #retire(worker: SupervisedProcess): void {
    if (worker === this.#helper.worker) this.#helper.dismiss();
    worker.isRetiring = true;
    if (worker === this.#current) this.#dropCurrent();
  }

  #onSettled(worker: SupervisedProcess, exhausted: boolean): void {
    const { pool } = this.#options;
    if (worker.isWaiting) pool.slots.leave(worker);
    if (exhausted) this.#onExhausted(worker);
    const isWornOut = worker.served >= this.#options.bounds.maxServed;
    if (worker === this.#helper.worker) {
      if (isWornOut) this.#helper.dismiss();
    } else if (worker === this.#current) {
      if (isWornOut) this.#replace(worker);
    } else if (worker.busy === 0) void worker.end();
    if (worker.busy === 0) pool.onProcessIdle();
    this.#sendQueued();
  }

  /** Starts a replacement while this process finishes its invocations. Without room for both, the process ends once idle. */
  #replace(worker: SupervisedProcess): void {
    const { pool, now, bounds } = this.#options;
    if (worker !== this.#current || this.#starting) return;
    if (this.#renewAt === Number.POSITIVE_INFINITY) this.#renewAt = now();
    if (pool.hasRoom() && now() >= this.#renewAt) {
      this.#renewAt = now() + bounds.sweepInterval;
      this.#starting = this.#start(Number.POSITIVE_INFINITY).finally(() => (this.#starting = undefined));
    } else if (worker.busy === 0) void worker.end();
  }

  #onDown(worker: SupervisedProcess, cause: ProcessEndCause): void {
    this.#workers.delete(worker);
    this.#options.pool.slots.leave(worker);
    if (this.#helper.worker === worker) this.#helper.onWorkerGone();
    if (this.#current === worker) this.#dropCurrent();
    const isParked =
      cause !== 'requested' && (cause === 'cpu' ? this.#stability.recordExhaustion() : this.#stability.recordCrash());
    if (isParked) this.#queue.refuse(new InvocationFailure('crash'));
    this.#sendQueued();
    if (cause === 'requested') return;
    void logProcessLoss(this.#program, worker, cause, this.#options.log).then((reason) => {
      if (isParked) reportNoFurtherRestart(this.#program, reason, this.#options);
    });
  }

  /** Stops sending invocations to the current process and its helper. */
  #dropCurrent(): void {
    this.#current = undefined;
    this.#helper.dismiss();
  }

  #onExhausted(worker: SupervisedProcess): void {
    if (!this.#stability.recordExhaustion()) return;
    this.#queue.refuse(new InvocationFailure('crash'));
    const current = this.#current;
    this.#dropCurrent();
    if (current && current.busy === 0) void current.end();
    if (worker.busy === 0) void worker.end();
    reportNoFurtherRestart(this.#program, 'it used up its CPU time again and again', this.#options);
  }
}

/**
 * Fractions of the isolate's memory by which resident memory may grow before a process is replaced, and before an idle one ends.
 */
const REPLACE_GROWTH = 0.75;
const IDLE_END_GROWTH = 0.25;

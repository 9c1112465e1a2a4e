import type { Limits } from '../../protocol/messages.ts';
import type { Bounds } from './bounds.ts';
import { RunFailure } from './failure.ts';
import { describe, type Fleet } from './fleet.ts';
import type { Answer, Run } from './run.ts';
import { Stability } from './stability.ts';
import type { Cause, Worker } from './worker.ts';

/** A script of somebody's, and what is told when it is given up. */
export interface Program {
  /** For the log. */
  readonly name: string;
  readonly script: string;
  readonly reuse: boolean;
  /** It crashed too often; `detail` is one sentence for the administrator. */
  onParked(detail: string): void;
}

interface Parts {
  readonly fleet: Fleet;
  readonly limits: Limits;
  readonly bounds: Bounds;
  readonly now: () => number;
  readonly log: { warn(data: object, text: string): void };
  /** It is closed. */
  left(): void;
}

/** An invocation that waits for the process to be ready. */
interface Waiting {
  readonly run: Run;
  settle(outcome: Worker | RunFailure): void;
}

/**
 * One program and its process; in a crowd, a second one that helps it, unless the program keeps state between
 * invocations. Older ones may finish what they have.
 */
export class Guest {
  readonly #program: Program;
  readonly #parts: Parts;
  readonly #stability: Stability;
  readonly #waiting = new Set<Waiting>();
  readonly #workers = new Set<Worker>();
  #current: Worker | undefined;
  #starting: Promise<void> | undefined;
  #helper: Worker | undefined;
  #seeking: Promise<void> | undefined;
  /** Not sought again before. */
  #seekAt = 0;
  #closed = false;
  /** The current process is to be replaced; not tried again before. */
  #renewAt = Number.POSITIVE_INFINITY;

  constructor(program: Program, parts: Parts) {
    this.#program = program;
    this.#parts = parts;
    this.#stability = new Stability(parts.bounds, parts.now);
  }

  /** Invocations at work or waiting. */
  get busy(): number {
    return [...this.#workers].reduce((sum, worker) => sum + worker.busy, this.#waiting.size);
  }

  state(): 'idle' | 'running' | 'waiting' | 'parked' {
    if (this.#stability.parked) return 'parked';
    if (this.#current || this.#starting) return 'running';
    return this.#stability.wait() > 0 ? 'waiting' : 'idle';
  }

  /**
   * Rejects with a RunFailure: `busy` at once when it cannot be taken on now (too many at a time, no process to be had,
   * or the next start after a crash has to wait), `crash` when parked.
   */
  async invoke(run: Run): Promise<Answer> {
    if (this.#closed) throw new RunFailure('internal');
    if (this.#stability.parked) throw new RunFailure('crash');
    if (run.signal?.aborted) throw new RunFailure('timeout');
    if (this.busy >= this.#parts.bounds.inFlight) throw new RunFailure('busy');
    if (this.#current) return this.#lessBusy(this.#current).invoke(run);
    if (!this.#starting && this.#stability.wait() > 0) throw new RunFailure('busy');
    const ready = this.#enqueue(run);
    this.#starting ??= this.#start(0).finally(() => (this.#starting = undefined));
    return ready;
  }

  restart(): void {
    this.#stability.restart();
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#parts.left();
    this.#refuse(new RunFailure('crash'));
    await Promise.all([this.#starting, this.#seeking, ...[...this.#workers].map((worker) => worker.end())]);
  }

  /** Ends what has been idle for long, replaces what has grown. */
  async sweep(): Promise<void> {
    const { bounds, limits } = this.#parts;
    if (this.#helper && this.#isIdle(this.#helper, bounds.calm)) this.#dismiss();
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

  #lessBusy(current: Worker): Worker {
    const { bounds, now } = this.#parts;
    if (this.#helper) return this.#helper.busy < current.busy ? this.#helper : current;
    const isCrowded = current.busy >= bounds.crowd && !this.#program.reuse;
    if (isCrowded && !this.#seeking && !this.#starting && now() >= this.#seekAt) {
      this.#seekAt = now() + bounds.calm / 10;
      this.#seeking = this.#seekHelp(current).finally(() => (this.#seeking = undefined));
    }
    return current;
  }

  /** A crowd that waits for something else than the process is not served sooner by two. */
  async #seekHelp(current: Worker): Promise<void> {
    const { bounds } = this.#parts;
    if ((await current.lag()) < bounds.lag) return;
    const worker = await this.#obtain(bounds.calm).catch(() => undefined);
    if (!worker) return;
    if (worker.state !== 'ready' || this.#current !== current || this.#closed) return void worker.end();
    this.#helper = worker;
    worker.onWanted = () => this.#dismiss();
  }

  /** The helper finishes what it has. */
  #dismiss(): void {
    const helper = this.#helper;
    this.#helper = undefined;
    if (!helper) return;
    helper.isLeaving = true;
    if (helper.busy === 0) void helper.end();
  }

  #enqueue(run: Run): Promise<Answer> {
    const { limits, now } = this.#parts;
    const since = now();
    return new Promise((resolve, reject) => {
      const timeout = () => waiting.settle(new RunFailure('timeout'));
      const timer = setTimeout(timeout, limits.wall);
      const waiting: Waiting = {
        run,
        settle: (outcome) => {
          if (!this.#waiting.delete(waiting)) return;
          clearTimeout(timer);
          run.signal?.removeEventListener('abort', timeout);
          if (outcome instanceof RunFailure) reject(outcome);
          // Who calls is answered in time, whatever the start took.
          else resolve(outcome.invoke(run, limits.wall - (now() - since)));
        },
      };
      run.signal?.addEventListener('abort', timeout, { once: true });
      this.#waiting.add(waiting);
    });
  }

  #refuse(failure: RunFailure): void {
    for (const waiting of [...this.#waiting]) waiting.settle(failure);
  }

  /** Never rejects: whoever waits is told. */
  async #start(idle: number): Promise<void> {
    try {
      this.#serve(await this.#obtain(idle));
    } catch (error) {
      this.#refuse(error as RunFailure);
    }
  }

  /** A process with the program in it, if need be in place of one that has been idle for so long. Rejects with a RunFailure. */
  async #obtain(idle: number): Promise<Worker> {
    const { fleet } = this.#parts;
    const { script, reuse } = this.#program;
    const worker = await fleet.acquire(idle);
    if (this.#closed || worker.state !== 'blank') {
      void worker.end();
      throw new RunFailure(this.#closed ? 'crash' : 'internal');
    }
    this.#workers.add(worker);
    worker.onDown = (cause) => this.#down(worker, cause);
    worker.onSettled = (exhausted) => this.#settled(worker, exhausted);
    try {
      await worker.load(script, reuse);
    } finally {
      fleet.prepareSoon();
    }
    void worker.resident().then((bytes) => (worker.baseline = bytes));
    return worker;
  }

  #serve(worker: Worker): void {
    if (worker.state !== 'ready' || this.#stability.parked) {
      void worker.end();
      this.#refuse(new RunFailure('crash'));
      return;
    }
    const before = this.#current;
    this.#current = worker;
    this.#renewAt = Number.POSITIVE_INFINITY;
    this.#stability.serving();
    if (before?.busy === 0) void before.end();
    for (const waiting of [...this.#waiting]) waiting.settle(worker);
  }

  #settled(worker: Worker, exhausted: boolean): void {
    if (exhausted) this.#exhausted(worker);
    const isWornOut = worker.served >= this.#parts.bounds.served;
    if (worker === this.#helper) {
      if (isWornOut) this.#dismiss();
    } else if (worker === this.#current) {
      if (isWornOut) this.#wornOut(worker);
    } else if (worker.busy === 0) void worker.end();
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
    if (this.#helper === worker) this.#helper = undefined;
    if (this.#current === worker) this.#leaveOff();
    if (cause === 'asked') return;
    const isParked = this.#stability.crashed();
    if (isParked) this.#refuse(new RunFailure('crash'));
    void worker.gone.then(({ code, signal, memory }) => {
      const reason = memory ? 'it used more memory than it may' : describe(cause);
      const { fault } = worker;
      const about = { extension: this.#program.name, code, signal, ...(fault !== undefined && { err: fault }) };
      this.#parts.log.warn(about, `a process of confined code was lost: ${reason}`);
      if (isParked) this.#announce(reason);
    });
  }

  /** Nobody takes invocations any more. */
  #leaveOff(): void {
    this.#current = undefined;
    this.#dismiss();
  }

  #exhausted(worker: Worker): void {
    if (!this.#stability.exhausted()) return;
    this.#refuse(new RunFailure('crash'));
    const current = this.#current;
    this.#leaveOff();
    if (current && current.busy === 0) void current.end();
    if (worker.busy === 0) void worker.end();
    this.#announce('it used up its CPU time again and again');
  }

  #announce(reason: string): void {
    const { bounds, log } = this.#parts;
    const seconds = bounds.crashWindow / 1000;
    try {
      this.#program.onParked(
        `Failed too often within ${seconds} seconds and is not started again; at last, ${reason}.`,
      );
    } catch (error) {
      log.warn({ err: error, extension: this.#program.name }, 'nobody could be told that confined code was given up');
    }
  }
}

/** Of the isolate's memory: what the resident size may gain before a process is replaced, and before an idle one is ended. */
const GROWTH = 0.75;
const GROWN = 0.25;

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

/** One program and its process: at most one that takes invocations, and an older one that finishes what it has. */
export class Guest {
  readonly #program: Program;
  readonly #parts: Parts;
  readonly #stability: Stability;
  readonly #waiting = new Set<Waiting>();
  readonly #workers = new Set<Worker>();
  #current: Worker | undefined;
  #starting: Promise<void> | undefined;
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
    if (this.#current) return this.#current.invoke(run);
    if (!this.#starting && this.#stability.wait() > 0) throw new RunFailure('busy');
    const ready = this.#enqueue(run);
    this.#starting ??= this.#start(true).finally(() => (this.#starting = undefined));
    return ready;
  }

  restart(): void {
    this.#stability.restart();
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#parts.left();
    this.#refuse(new RunFailure('crash'));
    await Promise.all([this.#starting, ...[...this.#workers].map((worker) => worker.end())]);
  }

  /** Ends what has been idle for long, replaces what has grown. */
  async sweep(): Promise<void> {
    const { bounds, limits, now } = this.#parts;
    const worker = this.#current;
    if (!worker) return;
    if (worker.busy === 0 && now() - worker.idleSince >= bounds.idle) return void worker.end();
    const resident = await worker.resident();
    if (worker.baseline > 0 && resident - worker.baseline > limits.memory * GROWTH) this.#wornOut(worker);
  }

  #enqueue(run: Run): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const timeout = () => waiting.settle(new RunFailure('timeout'));
      const timer = setTimeout(timeout, this.#parts.limits.wall);
      const waiting: Waiting = {
        run,
        settle: (outcome) => {
          if (!this.#waiting.delete(waiting)) return;
          clearTimeout(timer);
          run.signal?.removeEventListener('abort', timeout);
          if (outcome instanceof RunFailure) reject(outcome);
          else resolve(outcome.invoke(run));
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
  async #start(mayEnd: boolean): Promise<void> {
    const { fleet, limits } = this.#parts;
    const { script, reuse } = this.#program;
    let worker: Worker;
    try {
      worker = await fleet.acquire(mayEnd);
    } catch (error) {
      return this.#refuse(error as RunFailure);
    }
    if (this.#closed || worker.state !== 'blank') {
      void worker.end();
      return this.#refuse(new RunFailure(this.#closed ? 'crash' : 'internal'));
    }
    this.#workers.add(worker);
    worker.onDown = (cause) => this.#down(worker, cause);
    worker.onSettled = (exhausted) => this.#settled(worker, exhausted);
    try {
      await worker.load(script, limits, reuse);
    } catch (error) {
      return this.#refuse(error as RunFailure);
    } finally {
      fleet.prepare();
    }
    this.#serve(worker);
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
    void worker.resident().then((bytes) => (worker.baseline = bytes));
    if (before?.busy === 0) void before.end();
    for (const waiting of [...this.#waiting]) waiting.settle(worker);
  }

  #settled(worker: Worker, exhausted: boolean): void {
    if (exhausted) this.#exhausted(worker);
    if (worker !== this.#current) {
      if (worker.busy === 0) void worker.end();
      return;
    }
    if (worker.served >= this.#parts.bounds.served) this.#wornOut(worker);
  }

  /** A new process takes over and this one finishes what it has; where there is no room for both, once it is idle. */
  #wornOut(worker: Worker): void {
    const { fleet, now, bounds } = this.#parts;
    if (worker !== this.#current || this.#starting) return;
    if (this.#renewAt === Number.POSITIVE_INFINITY) this.#renewAt = now();
    if (fleet.hasRoom() && now() >= this.#renewAt) {
      this.#renewAt = now() + bounds.sweep;
      this.#starting = this.#start(false).finally(() => (this.#starting = undefined));
    } else if (worker.busy === 0) void worker.end();
  }

  #down(worker: Worker, cause: Cause): void {
    this.#workers.delete(worker);
    if (this.#current === worker) this.#current = undefined;
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

  #exhausted(worker: Worker): void {
    if (!this.#stability.exhausted()) return;
    this.#refuse(new RunFailure('crash'));
    this.#current = undefined;
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

/** Of the isolate's memory: what the resident size may gain before a process is replaced. */
const GROWTH = 0.75;

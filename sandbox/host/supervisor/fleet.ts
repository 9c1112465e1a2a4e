import type { Limits } from '../../protocol/messages.ts';
import type { Launcher } from '../child.ts';
import type { Bounds } from './bounds.ts';
import { RunFailure } from './failure.ts';
import { outside } from './outside.ts';
import { type Cause, Worker } from './worker.ts';

interface Parts {
  readonly launcher: Launcher;
  readonly limits: Limits;
  /** Living processes, the spare included. */
  readonly processes: number;
  readonly bounds: Bounds;
  readonly now: () => number;
  readonly log: { warn(data: object, text: string): void };
}

/** All processes: never more than allowed, and one of them a spare that waits for a program. */
export class Fleet {
  readonly #parts: Parts;
  /** From launch until reaped. */
  readonly #living = new Set<Worker>();
  readonly #claims: ((worker: Worker | RunFailure) => void)[] = [];
  #spare: Worker | undefined;
  #lastUse = Number.NEGATIVE_INFINITY;
  /** Launches that came to nothing, one after another. */
  #failed = 0;
  #notBefore = 0;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  get living(): number {
    return this.#living.size;
  }

  /** Could another process be had without ending anybody's? */
  hasRoom(): boolean {
    return this.#spare !== undefined || this.#living.size < this.#parts.processes;
  }

  /**
   * A process without a program: the spare, a new one, or one in place of the process that has been idle for longest and
   * for at least `idle` milliseconds. For a program that has none (0) also in place of one that another can do without.
   * Rejects with `busy` when all are at work, and with `internal` when none can be started.
   */
  async acquire(idle = 0): Promise<Worker> {
    const worker = await this.#pick(idle);
    await worker.hello;
    // From here on its end is the business of whoever has it.
    worker.onDown = undefined;
    return worker;
  }

  /** Sees to it that a spare is on its way while the sandbox is in use. */
  prepare(): void {
    const { processes, bounds, now } = this.#parts;
    if (this.#closed || this.#spare || this.#living.size >= processes || now() < this.#notBefore) return;
    if (this.#living.size === 0 && now() - this.#lastUse >= bounds.idle) return;
    try {
      this.#spare = this.#launch();
    } catch {
      // Noted where it failed; whoever needs a process is told.
    }
  }

  /** Does so once those who are waiting now have been served. */
  prepareSoon(): void {
    this.#timer ??= outside(() =>
      setTimeout(() => {
        this.#timer = undefined;
        this.prepare();
      }, this.#parts.bounds.soon).unref(),
    );
  }

  /** The sandbox is in use from now on. */
  used(): void {
    this.#lastUse = this.#parts.now();
  }

  /** Ends the spare once nobody has needed a process for long. */
  sweep(): void {
    const { bounds, now } = this.#parts;
    if (this.#spare && this.#living.size === 1 && now() - this.#lastUse >= bounds.idle) void this.#spare.end();
    else this.prepare();
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    for (const claim of this.#claims.splice(0)) claim(new RunFailure('internal'));
    await Promise.all([...this.#living].map((worker) => worker.end()));
  }

  async #pick(idle: number): Promise<Worker> {
    if (this.#closed) throw new RunFailure('internal');
    this.used();
    const spare = this.#spare;
    if (spare) {
      this.#spare = undefined;
      return spare;
    }
    if (this.#living.size < this.#parts.processes) return this.#launch();
    const leaving = [...this.#living].filter(({ state, isLeaving }) => state === 'down' || isLeaving).length;
    if (leaving <= this.#claims.length && !this.#makeRoom(idle)) throw new RunFailure('busy');
    // The place is free once the old process is reaped.
    const got = await new Promise<Worker | RunFailure>((resolve) => void this.#claims.push(resolve));
    if (got instanceof RunFailure) throw got;
    return got;
  }

  #makeRoom(idle: number): boolean {
    const staying = [...this.#living].filter(({ state, isLeaving }) => state === 'ready' && !isLeaving);
    const [idlest] = staying.filter(({ busy }) => busy === 0).sort((a, b) => a.idleSince - b.idleSince);
    const isIdle = idlest !== undefined && this.#parts.now() - idlest.idleSince >= idle;
    const wanted = idle === 0 ? staying.find(({ onWanted }) => onWanted)?.onWanted : undefined;
    const release = isIdle ? () => void idlest.end() : wanted;
    release?.();
    return release !== undefined;
  }

  #launch(): Worker {
    const { launcher, limits, bounds, now, log } = this.#parts;
    if (now() < this.#notBefore) throw new RunFailure('busy');
    let worker: Worker;
    try {
      worker = outside(() => new Worker(launcher.launch(), bounds, limits, now));
    } catch (error) {
      this.#launchFailed();
      log.warn({ err: error }, 'a confined process could not be started');
      throw new RunFailure('internal');
    }
    this.#living.add(worker);
    worker.onDown = (cause) => {
      if (this.#spare === worker) this.#spare = undefined;
      if (cause === 'asked') return;
      this.#launchFailed();
      log.warn({ cause: describe(cause) }, 'a confined process ended before it had a program');
    };
    worker.hello.then(
      () => (this.#failed = 0),
      () => {},
    );
    void worker.gone.then(() => this.#reaped(worker));
    return worker;
  }

  #launchFailed(): void {
    const { bounds, now } = this.#parts;
    this.#notBefore = now() + Math.min(bounds.firstDelay * 2 ** this.#failed, bounds.longestDelay);
    this.#failed = Math.min(this.#failed + 1, 20);
  }

  #reaped(worker: Worker): void {
    this.#living.delete(worker);
    const claim = this.#claims.shift();
    if (!claim) this.prepare();
    else this.#serve(claim);
  }

  #serve(claim: (worker: Worker | RunFailure) => void): void {
    try {
      claim(this.#launch());
    } catch (error) {
      claim(error as RunFailure);
    }
  }
}

const CAUSES: Readonly<Record<Cause, string>> = {
  asked: 'it was asked to',
  refused: 'its code could not be evaluated',
  died: 'its process died',
  protocol: 'it broke the protocol',
  stuck: 'it did not answer in time',
  'slow-start': 'it did not start in time',
};
export const describe = (cause: Cause): string => CAUSES[cause];

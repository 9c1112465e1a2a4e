import type { GuestLimits } from '../../protocol/messages.ts';
import type { ConfinedChildLauncher } from '../confined-child.ts';
import type { SupervisorBounds } from './bounds.ts';
import { renderProcessEndCause } from './end-cause.ts';
import { ExecutionSlots } from './execution-slots.ts';
import { InvocationFailure } from './invocation-failure.ts';
import type { QueuedInputByteBudget } from './invocation-queue.ts';
import { SupervisedProcess } from './supervised-process.ts';
import { withoutRequestContext } from './without-request-context.ts';

interface ProcessPoolOptions {
  readonly launcher: ConfinedChildLauncher;
  readonly limits: GuestLimits;
  /** Maximum of living processes, the spare included. */
  readonly processes: number;
  /** Maximum of processes that execute at a time. */
  readonly slots: number;
  /** Resident bytes that all processes may have together. */
  readonly memory: number;
  readonly bounds: SupervisorBounds;
  readonly now: () => number;
  readonly log: { warn(data: object, text: string): void };
}

interface ProcessClaim {
  /** False once the process is no longer needed. */
  isNeeded(): boolean;
  settle(worker: SupervisedProcess | InvocationFailure): void;
}

/** All child processes: at most `processes`, one of them a spare without a program. */
export class ProcessPool {
  readonly #options: ProcessPoolOptions;
  /** Processes from their launch until they are reaped. */
  readonly #living = new Set<SupervisedProcess>();
  /** Programs that wait for a process, first in, first out. Each program has one claim at most. */
  readonly #claims: ProcessClaim[] = [];
  readonly slots: ExecutionSlots;
  readonly inputs: QueuedInputByteBudget;
  #spare: SupervisedProcess | undefined;
  #lastUse = Number.NEGATIVE_INFINITY;
  /** Consecutive failed launches. */
  #failed = 0;
  #notBefore = 0;
  #timer: NodeJS.Timeout | undefined;
  #claimTimer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(options: ProcessPoolOptions) {
    this.#options = options;
    this.slots = new ExecutionSlots(options.slots);
    this.inputs = { left: options.bounds.maxQueuedBytes };
  }

  get living(): number {
    return this.#living.size;
  }

  /** True where another process is available without ending one. */
  hasRoom(): boolean {
    return this.#spare !== undefined || this.#living.size < this.#options.processes;
  }

  /**
   * Obtains a process without a program: the spare, a new one, or one in place of a process that has been idle for at
   * least `idle` milliseconds. A program without a process (`idle` is 0) waits: a helper process makes room for it, or,
   * where all are busy, the process that has served for longest, after its invocations. Rejects with `busy` where no
   * process is free, and with `internal` when none can be started.
   */
  async acquire(idle: number, isNeeded: () => boolean): Promise<SupervisedProcess> {
    const worker = await this.#obtain(idle, isNeeded);
    await worker.hello;
    // From here on the program that has the process handles its end.
    worker.onDown = undefined;
    return worker;
  }

  /** Called when a process has become idle: a program may be waiting for a process. */
  onProcessIdle(): void {
    if (this.#claims.length > 0) this.#serveClaims();
  }

  /** Starts a spare while the sandbox is in use. */
  prepareSpare(): void {
    const { processes, bounds, now } = this.#options;
    if (this.#closed || this.#spare || this.#living.size >= processes || now() < this.#notBefore) return;
    if (this.#claims.length > 0 || this.#starting >= MAX_STARTING) return;
    if (this.#living.size === 0 && now() - this.#lastUse >= bounds.idleTimeout) return;
    try {
      this.#spare = this.#launch();
    } catch {
      // `#launch` has logged the failure. The next program that needs a process gets the error.
    }
  }

  /** Starts a spare after `spareDelay`, when waiting programs have been served. */
  prepareSpareSoon(): void {
    this.#timer ??= withoutRequestContext(() =>
      setTimeout(() => {
        this.#timer = undefined;
        this.prepareSpare();
      }, this.#options.bounds.spareDelay).unref(),
    );
  }

  /** Records a use of the sandbox, which keeps the spare. */
  markUsed(): void {
    this.#lastUse = this.#options.now();
  }

  /**
   * Keeps the memory of all processes together below the limit: idle processes end first, then the largest. Each
   * process has its own limit, so growth between two checks is bounded.
   */
  async limitMemory(): Promise<void> {
    const workers = [...this.#living].filter(({ state }) => state !== 'down');
    const sizes = await Promise.all(workers.map(async (worker) => ({ worker, bytes: await worker.resident() })));
    let sum = sizes.reduce((total, { bytes }) => total + bytes, 0);
    const isIdle = ({ worker }: { worker: SupervisedProcess }) => Number(worker.busy === 0);
    for (const one of sizes.sort((a, b) => isIdle(b) - isIdle(a) || b.bytes - a.bytes)) {
      if (sum <= this.#options.memory) return;
      sum -= one.bytes;
      if (isIdle(one)) void one.worker.end();
      else one.worker.kill('memory');
    }
  }

  /** Ends the spare after `idleTimeout` without use of the sandbox. */
  sweep(): void {
    const { bounds, now } = this.#options;
    if (this.#spare && this.#living.size === 1 && now() - this.#lastUse >= bounds.idleTimeout) void this.#spare.end();
    else this.prepareSpare();
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    clearTimeout(this.#claimTimer);
    for (const claim of this.#claims.splice(0)) claim.settle(new InvocationFailure('internal'));
    await Promise.all([...this.#living].map((worker) => worker.end()));
  }

  get #starting(): number {
    return [...this.#living].filter(({ state }) => state === 'starting').length;
  }

  async #obtain(idle: number, isNeeded: () => boolean): Promise<SupervisedProcess> {
    if (this.#closed) throw new InvocationFailure('internal');
    this.markUsed();
    if (this.#claims.length === 0) {
      const worker = this.#takeAvailable();
      if (worker) return worker;
    }
    // A helper process is not worth waiting for.
    if (idle > 0 && (this.#claims.length > 0 || !this.#makeRoom(idle))) throw new InvocationFailure('busy');
    const outcome = await new Promise<SupervisedProcess | InvocationFailure>((settle) => {
      this.#claims.push({ isNeeded, settle });
      this.#serveClaims();
    });
    if (outcome instanceof InvocationFailure) throw outcome;
    return outcome;
  }

  /** The spare, or a new process where there is room for one. */
  #takeAvailable(): SupervisedProcess | undefined {
    const spare = this.#spare;
    this.#spare = undefined;
    if (spare) return spare;
    return this.#living.size < this.#options.processes && this.#starting < MAX_STARTING ? this.#launch() : undefined;
  }

  #serveClaims(): void {
    clearTimeout(this.#claimTimer);
    for (const claim of this.#claims.filter(({ isNeeded }) => !isNeeded())) {
      this.#claims.splice(this.#claims.indexOf(claim), 1);
      claim.settle(new InvocationFailure('busy'));
    }
    for (let [claim] = this.#claims; claim; [claim] = this.#claims) {
      let outcome: SupervisedProcess | InvocationFailure | undefined;
      try {
        outcome = this.#takeAvailable();
      } catch (error) {
        outcome = error as InvocationFailure;
      }
      if (!outcome) break;
      this.#claims.shift();
      claim.settle(outcome);
    }
    if (this.#claims.length === 0) return;
    this.#makeRoomForClaims();
    this.#claimTimer = withoutRequestContext(() =>
      setTimeout(() => this.#serveClaims(), this.#options.bounds.claimInterval).unref(),
    );
  }

  /** Ends as many processes as programs wait for one. */
  #makeRoomForClaims(): void {
    if (this.#living.size < this.#options.processes) return;
    const retiring = [...this.#living].filter(({ state, isRetiring }) => state === 'down' || isRetiring).length;
    for (let missing = this.#claims.length - retiring; missing > 0; missing--) {
      if (!this.#makeRoom(0) && !this.#retire()) return;
    }
  }

  #makeRoom(idle: number): boolean {
    const staying = [...this.#living].filter(({ state, isRetiring }) => state === 'ready' && !isRetiring);
    const [idlest] = staying.filter(({ busy }) => busy === 0).sort((a, b) => a.idleSince - b.idleSince);
    const isIdle = idlest !== undefined && this.#options.now() - idlest.idleSince >= idle;
    const releaseHelper = idle === 0 ? staying.find(({ onSlotNeeded }) => onSlotNeeded)?.onSlotNeeded : undefined;
    const release = isIdle ? () => void idlest.end() : releaseHelper;
    release?.();
    return release !== undefined;
  }

  /** All processes are busy: the one that has served for longest finishes its invocations and ends. */
  #retire(): boolean {
    const { now, bounds } = this.#options;
    const [oldest] = [...this.#living]
      .filter(({ state, isRetiring, onRetired }) => state === 'ready' && !isRetiring && onRetired)
      .sort((a, b) => a.readySince - b.readySince);
    if (!oldest || now() - oldest.readySince < bounds.minService) return false;
    oldest.onRetired?.();
    return true;
  }

  #launch(): SupervisedProcess {
    const { launcher, limits, bounds, now, log } = this.#options;
    if (now() < this.#notBefore) throw new InvocationFailure('busy');
    let worker: SupervisedProcess;
    try {
      worker = withoutRequestContext(() => new SupervisedProcess(launcher.launch(), bounds, limits, now));
    } catch (error) {
      this.#launchFailed();
      log.warn({ err: error }, 'a confined process could not be started');
      throw new InvocationFailure('internal');
    }
    this.#living.add(worker);
    worker.onDown = (cause) => {
      if (this.#spare === worker) this.#spare = undefined;
      if (cause === 'requested') return;
      this.#launchFailed();
      log.warn({ cause: renderProcessEndCause(cause) }, 'a confined process ended before it had a program');
    };
    worker.hello.then(
      () => {
        this.#failed = 0;
        this.onProcessIdle();
      },
      () => {},
    );
    void worker.exited.then(() => this.#reaped(worker));
    return worker;
  }

  #launchFailed(): void {
    const { bounds, now } = this.#options;
    this.#notBefore = now() + Math.min(bounds.firstDelay * 2 ** this.#failed, bounds.longestDelay);
    this.#failed = Math.min(this.#failed + 1, 20);
  }

  #reaped(worker: SupervisedProcess): void {
    this.#living.delete(worker);
    if (this.#claims.length === 0) this.prepareSpare();
    else this.#serveClaims();
  }
}

/** Processes that start at a time, since a start uses a core for some hundred milliseconds. */
const MAX_STARTING = 4;

import type { SupervisorBounds } from './bounds.ts';
import type { SupervisedProcess } from './supervised-process.ts';

interface HelperOptions {
  readonly bounds: SupervisorBounds;
  readonly now: () => number;
  /** Obtains a process with the program loaded, where that needs no wait for another program. */
  obtain(idle: number): Promise<SupervisedProcess>;
  /** True where many invocations are queued because the process has not confirmed earlier ones. */
  isBehind(): boolean;
  /** True while this process serves the program. */
  isCurrent(worker: SupervisedProcess): boolean;
}

/** The second process of a program, used while many invocations are in flight. */
export class ProgramHelperProcess {
  readonly #options: HelperOptions;
  #worker: SupervisedProcess | undefined;
  #seeking: Promise<void> | undefined;
  /** Time before which no helper is sought again. */
  #seekAt = 0;

  constructor(options: HelperOptions) {
    this.#options = options;
  }

  get worker(): SupervisedProcess | undefined {
    return this.#worker;
  }

  /** Resolves when the search for a process ends. */
  get seeking(): Promise<void> | undefined {
    return this.#seeking;
  }

  /** Measures the lag of the current process and obtains a second one where it is too long. */
  seek(current: SupervisedProcess): void {
    const { bounds, now } = this.#options;
    if (this.#worker || this.#seeking || now() < this.#seekAt) return;
    this.#seekAt = now() + bounds.calmTimeout / 10;
    this.#seeking = this.#obtainWorker(current).finally(() => (this.#seeking = undefined));
  }

  /** The helper process has ended. */
  onWorkerGone(): void {
    this.#worker = undefined;
  }

  /** Lets the helper finish its invocations and end. */
  dismiss(): void {
    const worker = this.#worker;
    this.#worker = undefined;
    if (!worker) return;
    worker.isRetiring = true;
    if (worker.busy === 0) void worker.end();
  }

  /**
   * Obtains a second process where the current one lags. It does not help invocations that wait for timers or the host.
   */
  async #obtainWorker(current: SupervisedProcess): Promise<void> {
    const { bounds, obtain, isBehind, isCurrent } = this.#options;
    if ((await current.lag()) < bounds.maxLag && !isBehind()) return;
    const worker = await obtain(bounds.calmTimeout).catch(() => undefined);
    if (!worker) return;
    if (worker.state !== 'ready' || !isCurrent(current)) return void worker.end();
    this.#worker = worker;
    worker.onSlotNeeded = () => this.dismiss();
  }
}

import type { SupervisorBounds } from './bounds.ts';
import type { Worker } from './worker.ts';

interface HelperOptions {
  readonly bounds: SupervisorBounds;
  readonly now: () => number;
  /** A process with the program in it, where one can be had without a wait for another program. */
  obtain(idle: number): Promise<Worker>;
  /** Many wait in the host for the process to confirm what it was sent. */
  isBehind(): boolean;
  /** This process still serves the program. */
  isCurrent(worker: Worker): boolean;
}

/** The second process of a program, which helps the first in a crowd. */
export class HelperProcess {
  readonly #options: HelperOptions;
  #worker: Worker | undefined;
  #seeking: Promise<void> | undefined;
  /** Not sought again before. */
  #seekAt = 0;

  constructor(options: HelperOptions) {
    this.#options = options;
  }

  get worker(): Worker | undefined {
    return this.#worker;
  }

  /** Resolves when no process is being sought. */
  get seeking(): Promise<void> | undefined {
    return this.#seeking;
  }

  /** Asks the process of a crowd whether it keeps up, and gets a second one where it does not. */
  seek(current: Worker): void {
    const { bounds, now } = this.#options;
    if (this.#worker || this.#seeking || now() < this.#seekAt) return;
    this.#seekAt = now() + bounds.calmTimeout / 10;
    this.#seeking = this.#obtainWorker(current).finally(() => (this.#seeking = undefined));
  }

  /** It is gone. */
  onWorkerGone(): void {
    this.#worker = undefined;
  }

  /** It finishes what it has. */
  dismiss(): void {
    const worker = this.#worker;
    this.#worker = undefined;
    if (!worker) return;
    worker.isRetiring = true;
    if (worker.busy === 0) void worker.end();
  }

  /** A crowd that waits for something else than the process is not served sooner by two. */
  async #obtainWorker(current: Worker): Promise<void> {
    const { bounds, obtain, isBehind, isCurrent } = this.#options;
    if ((await current.lag()) < bounds.maxLag && !isBehind()) return;
    const worker = await obtain(bounds.calmTimeout).catch(() => undefined);
    if (!worker) return;
    if (worker.state !== 'ready' || !isCurrent(current)) return void worker.end();
    this.#worker = worker;
    worker.onSlotNeeded = () => this.dismiss();
  }
}

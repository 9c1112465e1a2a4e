import type { ChildProcess } from 'node:child_process';

/** The messages of one process, for one listener at a time. */
export class WorkerMessages {
  /** Resolves when the process is gone, for whatever reason. */
  readonly gone: Promise<void>;
  #isGone = false;
  #listen: (message: unknown) => void = () => {};
  // One at a time, and not by a promise: that would keep all who have ever waited, with their requests, while the process lives.
  #crash = () => {};

  constructor(child: ChildProcess) {
    this.gone = new Promise<void>((resolve) => {
      child.once('exit', () => resolve());
      // The process could not be started; after an exit there may be other errors, which say nothing new.
      child.on('error', () => child.pid === undefined && resolve());
    }).then(() => {
      this.#isGone = true;
      this.#crash();
    });
    child.on('message', (message) => this.#listen(message));
  }

  get isGone(): boolean {
    return this.#isGone;
  }

  /** Waits for the first message that `read` makes something of, at most `milliseconds`, and not for a process that is gone. */
  waitFor<T extends object | string>(
    milliseconds: number,
    read: (message: unknown) => T | undefined,
  ): Promise<T | 'timeout' | 'crashed'> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => resolve('timeout'), milliseconds);
      const settle = (value: T | 'crashed') => {
        clearTimeout(timer);
        this.#listen = () => {};
        this.#crash = () => {};
        resolve(value);
      };
      this.#listen = (message) => {
        const value = read(message);
        if (value !== undefined) settle(value);
      };
      this.#crash = () => settle('crashed');
      if (this.#isGone) this.#crash();
    });
  }
}

import type { ChildProcess } from 'node:child_process';

/** The messages that a worker process sends, for one listener at a time. */
export class WorkerMessageReceiver {
  /** Resolves when the process is gone, for whatever reason. */
  readonly gone: Promise<void>;
  #isGone = false;
  #listen: (message: unknown) => void = () => {};
  // A callback and not a promise: a promise would keep all earlier waiters and their requests in memory while the process lives.
  #crash = () => {};

  constructor(child: ChildProcess) {
    this.gone = new Promise<void>((resolve) => {
      child.once('exit', () => resolve());
      // A child without a pid was not started; errors after an exit are ignored.
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

  /** Resolves to the first defined result of `read` for a message; `timeout` after `milliseconds`; `crashed` when the process ends. */
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

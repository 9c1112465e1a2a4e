/** Pings to one process that are not answered yet. */
export class Pings {
  /** False where the process does not take it. */
  readonly #send: (id: number) => boolean;
  readonly #unanswered = new Map<number, (isAnswered: boolean) => void>();

  constructor(send: (id: number) => boolean) {
    this.#send = send;
  }

  /** Calls back with true when the process answers; with false where it does not take the ping, or is gone. */
  send(id: number, callback: (isAnswered: boolean) => void): void {
    this.#unanswered.set(id, callback);
    if (!this.#send(id)) this.#settle(id, false);
  }

  /** False for an id that no ping has. */
  answer(id: number): boolean {
    return this.#settle(id, true);
  }

  /** There will be no answers any more. */
  close(): void {
    for (const id of [...this.#unanswered.keys()]) this.#settle(id, false);
  }

  #settle(id: number, isAnswered: boolean): boolean {
    const callback = this.#unanswered.get(id);
    this.#unanswered.delete(id);
    callback?.(isAnswered);
    return callback !== undefined;
  }
}

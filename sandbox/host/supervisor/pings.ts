/** Unanswered pings to one process. */
export class UnansweredPings {
  /** Sends a ping with this id; false where it could not be sent. */
  readonly #send: (id: number) => boolean;
  readonly #unanswered = new Map<number, (isAnswered: boolean) => void>();

  constructor(send: (id: number) => boolean) {
    this.#send = send;
  }

  /**
   * Calls back with true when the process answers, with false where the ping cannot be sent or the process has ended.
   */
  send(id: number, callback: (isAnswered: boolean) => void): void {
    this.#unanswered.set(id, callback);
    if (!this.#send(id)) this.#settle(id, false);
  }

  /** False for an unknown ping id. */
  answer(id: number): boolean {
    return this.#settle(id, true);
  }

  /** Settles all pings as unanswered. */
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

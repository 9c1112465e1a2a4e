const WINDOW = 60_000;

/** Counts of what the engine has done. */
export class EngineMetrics {
  changes = 0;
  deliveries = 0;
  reads = 0;
  resyncs = 0;
  drops = 0;
  refusals = 0;
  #last = 0;
  #max = 0;
  #maxAt = 0;

  /** Milliseconds between the announcement of a change and its deliveries. */
  recordLag(milliseconds: number): void {
    const now = performance.now();
    this.#last = milliseconds;
    if (milliseconds < this.#max && now - this.#maxAt < WINDOW) return;
    this.#max = milliseconds;
    this.#maxAt = now;
  }

  get lag(): { readonly last: number; readonly max: number } {
    const isRecent = performance.now() - this.#maxAt < WINDOW;
    return { last: this.#last, max: isRecent ? this.#max : this.#last };
  }
}

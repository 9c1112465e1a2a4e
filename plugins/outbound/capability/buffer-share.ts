/** Bytes of answers that one package may have in memory of the service at the same time. */
const MAX_BUFFERED = 8 * 1024 * 1024;

/** What one package holds of answers. */
export class BufferShare {
  #bufferedBytes = 0;

  /** What one request holds: `canBuffer` for each part that arrives, `release` once nothing of it is needed. */
  open(): { canBuffer(bytes: number): boolean; release(): void } {
    let own = 0;
    return {
      canBuffer: (bytes) => {
        if (this.#bufferedBytes + bytes > MAX_BUFFERED) return false;
        this.#bufferedBytes += bytes;
        own += bytes;
        return true;
      },
      // Whoever asked makes text of it at once; that should be over.
      release: () =>
        void setImmediate(() => {
          this.#bufferedBytes -= own;
          own = 0;
        }),
    };
  }
}

/** Shares by package: its parts have one together. */
export function createBufferShares(): (name: string) => BufferShare {
  const shares = new Map<string, BufferShare>();
  return (name) => {
    const share = shares.get(name) ?? new BufferShare();
    shares.set(name, share);
    return share;
  };
}

let last: Promise<void> = Promise.resolve();

/** Resolves in a turn of the event loop that no other answer has: each takes a while to be read. */
export const nextTurn = (): Promise<void> => {
  last = last.then(() => new Promise((resolve) => void setImmediate(resolve)));
  return last;
};

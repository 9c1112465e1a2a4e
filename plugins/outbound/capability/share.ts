/** Bytes of answers that one package may have in memory of the service at the same time. */
const MOST = 8 * 1024 * 1024;

/** What one package holds of answers. */
export class Share {
  #held = 0;

  /** What one request holds: `mayHold` for each part that arrives, `release` once nothing of it is needed. */
  open(): { mayHold(bytes: number): boolean; release(): void } {
    let own = 0;
    return {
      mayHold: (bytes) => {
        if (this.#held + bytes > MOST) return false;
        this.#held += bytes;
        own += bytes;
        return true;
      },
      // Whoever asked makes text of it at once; that should be over.
      release: () =>
        void setImmediate(() => {
          this.#held -= own;
          own = 0;
        }),
    };
  }
}

/** Shares by package: its parts have one together. */
export function createShares(): (name: string) => Share {
  const shares = new Map<string, Share>();
  return (name) => {
    const share = shares.get(name) ?? new Share();
    shares.set(name, share);
    return share;
  };
}

let last: Promise<void> = Promise.resolve();

/** Resolves in a turn of the event loop that no other answer has: each takes a while to be read. */
export const turn = (): Promise<void> => {
  last = last.then(() => new Promise((resolve) => void setImmediate(resolve)));
  return last;
};

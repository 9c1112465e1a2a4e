/** Bytes of responses that one package may keep in memory of the service at the same time. */
const MAX_BUFFERED = 8 * 1024 * 1024;

/** Counts the buffered response bytes of one package. */
export class ResponseBufferShare {
  #bufferedBytes = 0;

  /**
   * Opens the count of one request: call `canBuffer` for each part, and `release` once the response is no longer
   * needed.
   */
  open(): { canBuffer(bytes: number): boolean; release(): void } {
    let own = 0;
    return {
      canBuffer: (bytes) => {
        if (this.#bufferedBytes + bytes > MAX_BUFFERED) return false;
        this.#bufferedBytes += bytes;
        own += bytes;
        return true;
      },
      // The bytes are released after the current turn of the event loop, since the caller converts the response to text
      // in it.
      release: () =>
        void setImmediate(() => {
          this.#bufferedBytes -= own;
          own = 0;
        }),
    };
  }
}

/** Returns the share of a package by its name, which all entries of the package use. */
export function createResponseBufferShareLookup(): (name: string) => ResponseBufferShare {
  const shares = new Map<string, ResponseBufferShare>();
  return (name) => {
    const share = shares.get(name) ?? new ResponseBufferShare();
    shares.set(name, share);
    return share;
  };
}

let last: Promise<void> = Promise.resolve();

/** Resolves in a turn of the event loop of its own, since parsing a response takes a while. */
export const waitForEventLoopTurn = (): Promise<void> => {
  last = last.then(() => new Promise((resolve) => void setImmediate(resolve)));
  return last;
};

import { AsyncLocalStorage } from 'node:async_hooks';
import { Readable } from 'node:stream';
import type { Log } from '#kernel';

interface StreamedResponseOptions {
  /** Milliseconds a client may take for one part. */
  readonly idleTimeout: number;
  readonly log: Log;
}

type StreamPart = IteratorResult<string | Uint8Array>;

/**
 * The body of a response that is produced while it is sent: the next part is requested when the client has received the
 * one before. A client that is too slow loses its connection, since the producer holds a database connection. An error
 * in the middle breaks the connection too, so that no client takes half a response for a whole one.
 */
export class StreamedResponse extends Readable {
  #first: StreamPart | undefined;
  readonly #parts: AsyncIterator<string | Uint8Array>;
  readonly #options: StreamedResponseOptions;
  /** The socket requests parts outside of the request's async context, which this restores. */
  readonly #inRequest = AsyncLocalStorage.snapshot();
  #idleTimer: NodeJS.Timeout | undefined;

  constructor(first: StreamPart, parts: AsyncIterator<string | Uint8Array>, options: StreamedResponseOptions) {
    super();
    this.#first = first;
    this.#parts = parts;
    this.#options = options;
  }

  override _read(): void {
    clearTimeout(this.#idleTimer);
    this.#next().then(
      ({ done, value }) => {
        if (this.destroyed) return;
        if (done) {
          this.push(null);
          return;
        }
        const { idleTimeout } = this.#options;
        if (idleTimeout > 0) this.#idleTimer = setTimeout(() => this.#abortIdleClient(idleTimeout), idleTimeout);
        this.push(value);
      },
      (error) => {
        this.#inRequest(() => {
          if (!this.destroyed) this.#options.log.error({ err: error }, 'a streamed response failed');
        });
        this.destroy(error as Error);
      },
    );
  }

  async #next(): Promise<StreamPart> {
    const first = this.#first;
    this.#first = undefined;
    return first ?? this.#inRequest(() => this.#parts.next());
  }

  #abortIdleClient(idleTimeout: number): void {
    this.#inRequest(() => this.#options.log.warn({ ms: idleTimeout }, 'a client read a streamed response too slowly'));
    this.destroy(new Error('the client read the response too slowly'));
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    clearTimeout(this.#idleTimer);
    Promise.resolve(this.#parts.return?.()).then(
      () => done(error),
      () => done(error),
    );
  }
}

import type { ResponseText } from './response-text.ts';

/** The responses of an operation, in their order. */
export type ResponseStream = AsyncIterableIterator<ResponseText, undefined, undefined> & {
  /** Ends the operation. A waiting `next` is done. */
  return(): Promise<IteratorResult<ResponseText, undefined>>;
};

interface QueueOptions {
  /** Called once: the reader has ended the queue, or has taken everything of a queue that has ended. */
  readonly onDone: () => void;
  /** Called each time the reader has taken the last response. */
  readonly onEmpty?: () => void;
}

type Result = IteratorResult<ResponseText, undefined>;
const DONE: Result = { done: true, value: undefined };

/** A queue between what delivers responses and the one reader that sends them. */
export class ResponseQueue implements ResponseStream {
  readonly #pending: ResponseText[] = [];
  readonly #options: QueueOptions;
  #reader: { resolve(result: Result): void; reject(error: unknown): void } | undefined;
  #end: { readonly error?: unknown } | undefined;
  #isDone = false;
  #held = 0;
  /** Whether the reader has ended the queue. */
  isReturned = false;

  constructor(options: QueueOptions) {
    this.#options = options;
  }

  /** Whether the reader has taken everything, and nothing is on its way. */
  get isEmpty(): boolean {
    return this.#pending.length === 0 && this.#held === 0;
  }

  /** Counts responses that are not there yet as part of the queue, until the returned function is called. */
  hold(): () => void {
    this.#held++;
    return () => {
      this.#held--;
      if (this.isEmpty) this.#options.onEmpty?.();
    };
  }

  push(response: ResponseText): void {
    if (this.#end) return;
    const reader = this.#reader;
    this.#reader = undefined;
    if (reader) reader.resolve({ done: false, value: response });
    else this.#pending.push(response);
  }

  /** The queue ends after what it holds; with an error, which the reader gets. */
  end(error?: unknown): void {
    if (this.#end) return;
    this.#end = error === undefined ? {} : { error };
    const reader = this.#reader;
    this.#reader = undefined;
    if (!reader) return;
    this.#finish();
    if (error === undefined) reader.resolve(DONE);
    else reader.reject(error);
  }

  #finish(): void {
    if (!this.#isDone) this.#options.onDone();
    this.#isDone = true;
  }

  next(): Promise<Result> {
    const value = this.#pending.shift();
    if (value) {
      if (this.isEmpty) this.#options.onEmpty?.();
      return Promise.resolve({ done: false, value });
    }
    if (!this.#end) return new Promise((resolve, reject) => (this.#reader = { resolve, reject }));
    const { error } = this.#end;
    this.#end = {};
    this.#finish();
    return error === undefined ? Promise.resolve(DONE) : Promise.reject(error);
  }

  async return(): Promise<Result> {
    this.#pending.length = 0;
    this.isReturned = true;
    this.end();
    this.#finish();
    return DONE;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}

import { AsyncLocalStorage } from 'node:async_hooks';

/** What one request carries through asynchronous calls: its id for the log, and a signal that its client is gone. */
export interface RequestScope {
  /** The client may choose it. */
  readonly id: string;
  /** Of this one request, with the client's id at its end, so that the activity log tells requests with the same id apart. */
  readonly invocation?: string | undefined;
  /** Aborts with a `ClientGone` when the client leaves before it has its answer. Only requests that read have one: what a write does may be for others. */
  readonly signal?: AbortSignal | undefined;
  /** Marks a request whose method could write as one that only reads: from then on it ends with its client. */
  onlyReads?(): void;
}

/** Why work for a client ends that no longer waits for the answer. */
export class ClientGone extends Error {
  constructor() {
    super('the client went away');
    this.name = 'ClientGone';
  }
}

/** The scope of the request that the running code serves; undefined outside of requests. */
export const requestScope = new AsyncLocalStorage<RequestScope>();

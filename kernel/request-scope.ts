import { AsyncLocalStorage } from 'node:async_hooks';

/** What one request carries through asynchronous calls: its id for the log, and a signal that its client is gone. */
export interface RequestScope {
  /** From a valid X-Request-Id of the client, else generated. */
  readonly id: string;
  /** Unique to this request, followed by the id that the client chose, so that the activity log distinguishes requests with the same id. */
  readonly invocation?: string | undefined;
  /** Aborts with a `ClientGone` when the client leaves before it has its answer. Only requests that read have one: a write runs to its end. */
  readonly signal?: AbortSignal | undefined;
  /** Marks a request whose method could write as read-only: from then on it is aborted when its client disconnects. */
  markReadOnly?(): void;
  /** Id of the trace, 32 hexadecimal digits, where traces are on. */
  trace?: string | undefined;
}

/** The abort reason of work for a client that has disconnected. */
export class ClientGone extends Error {
  override readonly name = 'ClientGone';
  override readonly message = 'the client went away';
}

/** The scope of the request that the running code serves; undefined outside of requests. */
export const requestScope = new AsyncLocalStorage<RequestScope>();

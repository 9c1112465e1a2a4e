const SECOND = 1000;

/** Until the server accepts the connection. Milliseconds, as all limits here. */
export const CONNECT_TIMEOUT = 5 * SECOND;
/** Until the response begins, for a request with a small body. */
export const RESPONSE_TIMEOUT = 60 * SECOND;
/** Until an upload is completed: servers may assemble the parts before they answer. */
export const COMPLETION_TIMEOUT = 600 * SECOND;
/** Between two chunks of a download whose reader waits. */
export const IDLE_TIMEOUT = 60 * SECOND;

/** A slower connection counts as dead. */
const MIN_BYTES_PER_SECOND = 64 * 1024;

/** Until a body of this many bytes is sent and answered. */
export const uploadTimeout = (bytes: number): number =>
  RESPONSE_TIMEOUT + Math.ceil(bytes / MIN_BYTES_PER_SECOND) * SECOND;

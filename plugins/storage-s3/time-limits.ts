const SECOND = 1000;

/** Milliseconds until the server accepts the connection. */
export const CONNECT_TIMEOUT = 5 * SECOND;
/** Milliseconds until the response begins, for a request with a small body. */
export const RESPONSE_TIMEOUT = 60 * SECOND;
/** Milliseconds until an upload is completed: servers may assemble the parts before they answer. */
export const S3_UPLOAD_COMPLETION_TIMEOUT = 600 * SECOND;
/** Milliseconds between two chunks of a download whose reader waits. */
export const S3_DOWNLOAD_IDLE_TIMEOUT = 60 * SECOND;

/** A slower connection counts as dead. */
const MIN_BYTES_PER_SECOND = 64 * 1024;

/** Milliseconds until a body of this many bytes is sent and answered. */
export const uploadTimeout = (bytes: number): number =>
  RESPONSE_TIMEOUT + Math.ceil(bytes / MIN_BYTES_PER_SECOND) * SECOND;

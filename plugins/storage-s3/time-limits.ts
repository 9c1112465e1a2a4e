const SECOND = 1000;

/** Until a server takes the connection. Milliseconds, as all here. */
export const CONNECTING = 5 * SECOND;
/** Until the answer to a request without much of a body begins. */
export const ANSWERING = 60 * SECOND;
/** Servers may put the parts of an object together one after the other before they answer. */
export const ASSEMBLING = 600 * SECOND;
/** Between two pieces of a download that somebody waits for. */
export const SILENCE = 60 * SECOND;

/** Bytes per second below which a connection counts as dead. */
const SLOWEST = 64 * 1024;

/** Until a body of that many bytes is sent and answered. */
export const sending = (bytes: number): number => ANSWERING + Math.ceil(bytes / SLOWEST) * SECOND;

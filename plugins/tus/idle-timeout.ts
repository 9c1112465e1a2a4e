import type { IncomingMessage } from 'node:http';

/**
 * Closes the connection of a client that sends nothing for `timeout` milliseconds (at most twice as long) while the service waits
 * for bytes. The request would hold the lock of the upload, and a half-open connection may never be noticed otherwise. 0 is no
 * limit. Answers a function that stops the check.
 */
export function enforceIdleTimeout(req: IncomingMessage, timeout: number): () => void {
  if (timeout <= 0) return () => {};
  const { socket } = req;
  let bytesBefore = -1;
  const check = () => {
    // While received bytes are unread, the client is not the slow side.
    if (!req.complete && req.readableLength === 0 && socket.bytesRead === bytesBefore) socket.destroy();
    bytesBefore = socket.bytesRead;
  };
  const timer = setInterval(check, timeout);
  return () => clearInterval(timer);
}

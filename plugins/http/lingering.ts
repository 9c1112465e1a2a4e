import type { IncomingMessage, ServerResponse } from 'node:http';
import { lengthOf } from './body.ts';

/** How long and how much of a body is taken off the line after its answer: milliseconds and bytes. */
export interface LingerLimits {
  readonly total: number;
  /** Without a byte. */
  readonly idle: number;
  readonly bytes: number;
}
const LIMITS: LingerLimits = { total: 30_000, idle: 5000, bytes: 64 * 1024 * 1024 };
/** Bytes of a body that is so soon at its end that its connection is kept. */
const SHORT = 4 * 1024 * 1024;

interface Exchange {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
}

/**
 * Lets a client read an answer that was made before its body arrived completely. Node would close the socket at once, and a client
 * that still sends then loses the answer to a reset connection. So the service discards what arrives, within limits: otherwise a
 * client could hold a connection with a body that is not read. The connection goes on after a short body; for any other the service
 * ends its own side at once.
 */
export function lingering({ req, res }: Exchange, limits = LIMITS): void {
  const { socket } = req;
  res.once('prefinish', () => {
    if (req.complete) return;
    if (res.shouldKeepAlive && isShort(req)) {
      res.once('finish', () => discard(req, limits));
      return;
    }
    // Node calls it for answers with `Connection: close`, right before the listener below.
    socket.destroySoon = () => {};
    res.once('finish', () => {
      Reflect.deleteProperty(socket, 'destroySoon');
      if (req.complete) return socket.destroySoon();
      req.once('end', () => socket.destroy());
      socket.end();
      discard(req, limits);
    });
  });
}

/** After these the client has shown that the rest may never come, or there is no memory for it. */
const ENDING: readonly number[] = [408, 503];

/** An answer that is sent while most of a body may still be on its way is the last one of its connection. */
export function closeUnlessComplete({ req, res }: Exchange, status: number): void {
  if (req.complete || res.headersSent || (isShort(req) && !ENDING.includes(status))) return;
  res.setHeader('Connection', 'close');
}

const isShort = (req: IncomingMessage): boolean => lengthOf(req) <= SHORT;

/** Ends the connection where the rest of the body does not come, or is too much. */
function discard(req: IncomingMessage, { total, idle, bytes }: LingerLimits): void {
  if (req.readableEnded) return;
  const { socket } = req;
  const first = socket.bytesRead;
  const begin = performance.now();
  let last = { bytes: first, at: begin };
  // Node does not emit the data of a body that no handler read.
  const watch = setInterval(() => {
    const now = performance.now();
    if (socket.bytesRead !== last.bytes) last = { bytes: socket.bytesRead, at: now };
    if (now - begin >= total || now - last.at >= idle || last.bytes - first > bytes) socket.destroy();
  }, idle / 5);
  const stop = () => {
    clearInterval(watch);
    socket.off('close', stop);
    req.off('end', stop);
  };
  socket.once('close', stop);
  req.once('end', stop);
  req.resume();
}

import type { IncomingMessage, ServerResponse } from 'node:http';

/** How long and how much of a body is taken off the line after its answer: milliseconds and bytes. */
export interface LingerLimits {
  readonly total: number;
  /** Without a byte. */
  readonly idle: number;
  readonly bytes: number;
}
const LIMITS: LingerLimits = { total: 30_000, idle: 5000, bytes: 64 * 1024 * 1024 };

interface Exchange {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
}

/**
 * Lets a client read an answer that was made before its body arrived completely. Node would close the socket at once, and a client
 * that still sends then loses the answer to a reset connection. So the service ends its own side only, and discards what arrives, within
 * limits: otherwise a client could hold a connection with a body that is not read.
 */
export function lingering({ req, res }: Exchange, limits = LIMITS): void {
  const { socket } = req;
  res.once('prefinish', () => {
    if (req.complete) return;
    // Node calls it for answers with `Connection: close`, right before the listener below.
    socket.destroySoon = () => {};
    res.once('finish', () => {
      Reflect.deleteProperty(socket, 'destroySoon');
      if (req.complete) socket.destroySoon();
      else discard(req, limits);
    });
  });
}

/** An answer that is sent before its body arrived completely is the last one of its connection. */
export function closeUnlessComplete({ req, res }: Exchange): void {
  if (!req.complete && !res.headersSent) res.setHeader('Connection', 'close');
}

function discard(req: IncomingMessage, { total, idle, bytes }: LingerLimits): void {
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
  socket.once('close', () => clearInterval(watch));
  req.once('end', () => socket.destroy());
  socket.end();
  req.resume();
}

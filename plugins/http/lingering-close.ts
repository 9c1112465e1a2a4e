import type { IncomingMessage, ServerResponse } from 'node:http';
import { contentLengthOf } from './body.ts';
import { discardBody, type DiscardLimits } from './discard-body.ts';

/** Bytes of a body that is so soon at its end that its connection is kept. */
const KEEP_ALIVE_BYTES = 4 * 1024 * 1024;

interface Exchange {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
}

/**
 * Lets a client read an answer that was made before its body arrived completely. Node would close the socket at once, and a client
 * that still sends then loses the answer to a reset connection. So the service discards what arrives, within limits: otherwise a
 * client could hold a connection with a body that is not read. The connection goes on after a short body; for any other the service
 * ends its own side at once. Where that happens to many at the same time, the rest are not read: of these only a client that reads
 * while it sends is sure to have the answer.
 */
export function enableLingeringClose({ req, res }: Exchange, limits?: DiscardLimits): void {
  const { socket } = req;
  res.once('prefinish', () => {
    if (req.complete) return;
    // Marks the request as read: Node itself discards a body that no handler read, without a bound.
    req.read(0);
    if (res.shouldKeepAlive && isShortBody(req)) {
      res.once('finish', () => discardBody(req, limits));
      return;
    }
    // Node calls it for answers with `Connection: close`, right before the listener below.
    socket.destroySoon = () => {};
    res.once('finish', () => {
      Reflect.deleteProperty(socket, 'destroySoon');
      if (req.complete) return socket.destroySoon();
      req.once('end', () => socket.destroy());
      socket.end();
      discardBody(req, limits);
    });
  });
}

/** After these the client has shown that the rest may never come, or there is no memory for it. */
const CLOSING_STATUSES: readonly number[] = [408, 503];

/** An answer that is sent while most of a body may still be on its way is the last one of its connection. */
export function closeConnectionUnlessRead({ req, res }: Exchange, status: number): void {
  if (req.complete || res.headersSent || (isShortBody(req) && !CLOSING_STATUSES.includes(status))) return;
  res.setHeader('Connection', 'close');
}

const isShortBody = (req: IncomingMessage): boolean => contentLengthOf(req) <= KEEP_ALIVE_BYTES;

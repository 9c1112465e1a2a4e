import type { IncomingMessage, ServerResponse } from 'node:http';
import { contentLengthOf } from './body.ts';
import { type DiscardLimits, discardBody } from './discard-body.ts';

/** A connection stays open after an unread body of at most so many bytes, which ends soon. */
const KEEP_ALIVE_BYTES = 4 * 1024 * 1024;

interface Exchange {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
}

/**
 * Lets a client read a response that is sent before the request body has arrived ("lingering close"). Node would close
 * the socket at once, and a client that still sends would lose the response to a connection reset. So the service
 * discards what arrives, within limits, since a client could otherwise hold a connection with an unread body. The
 * connection stays open after a short body; for a longer one the service ends its own side at once. Over the limit of
 * connections bodies are not read, and only a client that reads while it sends is sure to get the response.
 */
export function enableLingeringClose({ req, res }: Exchange, limits?: DiscardLimits): void {
  const { socket } = req;
  res.once('prefinish', () => {
    if (req.complete) return;
    // Marks the request as read: Node would otherwise discard the unread body itself, without a bound.
    req.read(0);
    if (res.shouldKeepAlive && isShortBody(req)) {
      res.once('finish', () => discardBody(req, limits));
      return;
    }
    // Node calls `destroySoon` for responses with `Connection: close`, right before the listener below.
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

/** Statuses that always close the connection: the rest of the body may never arrive, or there is no memory for it. */
const CLOSING_STATUSES: readonly number[] = [408, 503];

/** Sets `Connection: close` on a response that is sent while most of the request body may still be on its way. */
export function setConnectionCloseUnlessRead({ req, res }: Exchange, status: number): void {
  if (req.complete || res.headersSent || (isShortBody(req) && !CLOSING_STATUSES.includes(status))) return;
  res.setHeader('Connection', 'close');
}

const isShortBody = (req: IncomingMessage): boolean => contentLengthOf(req) <= KEEP_ALIVE_BYTES;

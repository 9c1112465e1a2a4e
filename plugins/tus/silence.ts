import type { IncomingMessage } from 'node:http';

/**
 * Cuts off a client that sends nothing for `longest` milliseconds (at most twice as many) while somebody waits for it, as if it
 * had gone: it would hold the upload, and one that is really gone may never be noticed otherwise. 0 is no limit. Answers how
 * to end it.
 */
export function cutWhenSilent(req: IncomingMessage, longest: number): () => void {
  if (longest <= 0) return () => {};
  const { socket } = req;
  let before = -1;
  const look = () => {
    // Where something is left to be taken it is not the client who is slow.
    if (!req.complete && req.readableLength === 0 && socket.bytesRead === before) socket.destroy();
    before = socket.bytesRead;
  };
  const timer = setInterval(look, longest);
  return () => clearInterval(timer);
}

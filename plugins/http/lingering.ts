import type { Context } from 'koa';

/** Milliseconds. */
const LINGER = 30_000;

/**
 * A client that has its answer may still be sending: it reads the answer once its own words are taken off the line, so they are,
 * for a while. Without an end it could hold a connection for ever with a body that nobody wants.
 */
export function lingering({ req, res }: Pick<Context, 'req' | 'res'>, longest = LINGER): void {
  res.once('finish', () => {
    if (req.complete) return;
    req.resume();
    const cut = setTimeout(() => req.socket.destroy(), longest);
    for (const event of ['end', 'close']) req.once(event, () => clearTimeout(cut));
  });
}

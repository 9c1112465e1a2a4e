import type { IncomingMessage } from 'node:http';

/** How long and how much of a body is taken off the line after its answer: milliseconds and bytes. */
export interface LingerLimits {
  readonly total: number;
  /** Without a byte. */
  readonly idle: number;
  readonly bytes: number;
}
const LIMITS: LingerLimits = { total: 30_000, idle: 5000, bytes: 64 * 1024 * 1024 };
/** Connections whose bodies are discarded at the same time. */
const MOST = 32;
/** Of the others: milliseconds until their connection ends, in which their clients can read the answer. */
const UNREAD = 100;
/** Bytes that are discarded each `TICK` milliseconds of all bodies together: without a bound it could be most of what the service does. */
const BYTES = 256 * 1024;
const TICK = 20;

/** What is left for this tick. */
let budget = BYTES;
/** Bodies that go on with the next. */
const waiting = new Set<() => void>();
const discarded = new Set<IncomingMessage>();
let timer: NodeJS.Timeout | undefined;

/** Discards the rest of a body, and ends its connection where that does not come, is too much, or many others are being discarded. */
export function discard(req: IncomingMessage, { total, idle, bytes } = LIMITS): void {
  if (req.readableEnded) return;
  const { socket } = req;
  if (discarded.size >= MOST) {
    setTimeout(() => socket.destroy(), UNREAD);
    return;
  }
  const first = socket.bytesRead;
  const begin = performance.now();
  let last = { bytes: first, at: begin };
  const watch = setInterval(() => {
    const now = performance.now();
    if (socket.bytesRead !== last.bytes) last = { bytes: socket.bytesRead, at: now };
    if (now - begin >= total || now - last.at >= idle || last.bytes - first > bytes) socket.destroy();
  }, idle / 5);
  const take = () => {
    while (budget > 0) {
      const part: Buffer | null = req.read();
      if (part === null) return;
      budget -= part.length;
    }
    waiting.add(take);
  };
  const stop = () => {
    clearInterval(watch);
    waiting.delete(take);
    discarded.delete(req);
    socket.off('close', stop);
    req.off('end', stop).off('readable', take);
    if (discarded.size === 0) clearInterval(timer);
  };
  socket.once('close', stop);
  req.once('end', stop).on('readable', take);
  if (discarded.size === 0) timer = setInterval(refill, TICK);
  discarded.add(req);
  take();
}

/** Those that wait go first, in the order in which they began to. */
function refill(): void {
  budget = BYTES;
  const takes = [...waiting];
  waiting.clear();
  for (const take of takes) take();
}

import type { IncomingMessage } from 'node:http';

/** How long (milliseconds) and how much (bytes) of a request body is discarded after the response. */
export interface DiscardLimits {
  readonly deadline: number;
  /** Milliseconds without a byte. */
  readonly idleTimeout: number;
  readonly maxBytes: number;
}
const LIMITS: DiscardLimits = { deadline: 30_000, idleTimeout: 5000, maxBytes: 64 * 1024 * 1024 };
/** Connections whose bodies are discarded at the same time; others are closed. */
const MAX_CONNECTIONS = 32;
/** Milliseconds until a connection over MAX_CONNECTIONS is closed, in which its client can read the response. */
const CLOSE_DELAY = 100;
/**
 * Bytes of all bodies together that are discarded in each tick: without a bound, discarding could take most of the CPU.
 */
const BYTES_PER_TICK = 256 * 1024;
const TICK_DURATION = 20;
/** Ticks that a delayed refill makes up for, so that a busy process does not cut the connections of its slow clients. */
const MAX_TICKS = 25;

/** Bytes of all bodies that may still be discarded in this tick. */
let budget = BYTES_PER_TICK;
let refilledAt = 0;
/** Bodies that continue with the next tick. */
const waitingReads = new Set<() => void>();
const discardedRequests = new Set<IncomingMessage>();
let timer: NodeJS.Timeout | undefined;

/**
 * Discards the rest of a body. Closes the connection when the body stalls, exceeds a limit, or too many bodies are
 * being discarded.
 */
export function discardBody(req: IncomingMessage, { deadline, idleTimeout, maxBytes } = LIMITS): void {
  if (req.readableEnded) return;
  const { socket } = req;
  if (discardedRequests.size >= MAX_CONNECTIONS) {
    setTimeout(() => socket.destroy(), CLOSE_DELAY);
    return;
  }
  const initialBytes = socket.bytesRead;
  const startedAt = performance.now();
  let progress = { bytes: initialBytes, at: startedAt };
  const watchTimer = setInterval(() => {
    const now = performance.now();
    if (socket.bytesRead !== progress.bytes) progress = { bytes: socket.bytesRead, at: now };
    if (now - startedAt >= deadline || now - progress.at >= idleTimeout || progress.bytes - initialBytes > maxBytes)
      socket.destroy();
  }, idleTimeout / 5);
  const readWithinBudget = () => {
    while (budget > 0) {
      const part: Buffer | null = req.read();
      if (part === null) return;
      budget -= part.length;
    }
    waitingReads.add(readWithinBudget);
  };
  const stop = () => {
    clearInterval(watchTimer);
    waitingReads.delete(readWithinBudget);
    discardedRequests.delete(req);
    socket.off('close', stop);
    req.off('end', stop).off('readable', readWithinBudget);
    if (discardedRequests.size === 0) clearInterval(timer);
  };
  socket.once('close', stop);
  req.once('end', stop).on('readable', readWithinBudget);
  if (discardedRequests.size === 0) {
    refilledAt = performance.now();
    timer = setInterval(refillBudget, TICK_DURATION);
  }
  discardedRequests.add(req);
  readWithinBudget();
}

/** Starts the next tick. Waiting bodies continue in the order in which they began to wait. */
function refillBudget(): void {
  const now = performance.now();
  const ticks = Math.min(MAX_TICKS, Math.max(1, (now - refilledAt) / TICK_DURATION));
  refilledAt = now;
  budget = BYTES_PER_TICK * ticks;
  const reads = [...waitingReads];
  waitingReads.clear();
  for (const take of reads) take();
}

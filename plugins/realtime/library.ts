import { errorEnvelope, type Log } from '#kernel';
import type { RealtimeClient } from './contract.ts';

/** Logs an error that is a fault of the service or of a listener, of which clients learn nothing. `text` says what failed. */
export function logUnexpectedError(log: Log, error: unknown, text: string): void {
  if (errorEnvelope(error, { admin: false }).status === 500) log.error({ err: error }, text);
}

/** Handles messages of a socket one after the other. */
export interface MessageQueue {
  /** False where too many messages, or too many bytes, wait: this one is dropped. */
  push(text: string): boolean;
}

/** Messages that may wait while one is handled. */
const MAX_WAITING = 200;
/** Bytes of messages that may wait, for a client that has authenticated and for one that has not. */
const MAX_BYTES = 2_097_152;
const MAX_BYTES_OF_PUBLIC = 262_144;

/** Creates a queue for the socket of a client. `handle` must not reject. */
export function createMessageQueue(
  client: Pick<RealtimeClient, 'isAuthenticated'>,
  handle: (text: string) => Promise<void>,
): MessageQueue {
  let waiting: { text: string; bytes: number }[] = [];
  let waitingBytes = 0;
  let isRunning = false;

  function hasRoom(bytes: number): boolean {
    if (waiting.length >= MAX_WAITING) return false;
    if (!client.isAuthenticated) return waitingBytes + bytes <= MAX_BYTES_OF_PUBLIC;
    // WEBSOCKETS_MESSAGE_MAX_SIZE may allow messages that are larger than the queue.
    return waiting.length === 0 || waitingBytes + bytes <= MAX_BYTES;
  }

  async function run(): Promise<void> {
    isRunning = true;
    for (;;) {
      const [next, ...rest] = waiting;
      if (next === undefined) break;
      waiting = rest;
      waitingBytes -= next.bytes;
      await handle(next.text);
    }
    isRunning = false;
  }

  return {
    push(text) {
      const bytes = Buffer.byteLength(text);
      if (isRunning && !hasRoom(bytes)) return false;
      waiting.push({ text, bytes });
      waitingBytes += bytes;
      if (!isRunning) void run();
      return true;
    },
  };
}

/** Reads lists for sockets, whose answers are texts in memory. */
export { assertReadLength, readList } from './read-list.ts';
/** The client as listeners of the events `websocket.*` see it. */
export { type ClientOfEvent, toClientOfEvent } from './realtime-events.ts';

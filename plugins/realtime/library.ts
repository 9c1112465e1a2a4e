import { errorEnvelope, type Log } from '#kernel';

/** Logs an error that is a fault of the service or of a listener, of which clients learn nothing. `text` says what failed. */
export function logUnexpectedError(log: Log, error: unknown, text: string): void {
  if (errorEnvelope(error, { admin: false }).status === 500) log.error({ err: error }, text);
}

/** Handles messages of a socket one after the other. */
export interface MessageQueue {
  /** False where too many messages wait: this one is dropped. */
  push(text: string): boolean;
}

/** Messages that may wait while one is handled. */
const MAX_WAITING = 200;

/** Creates a queue for one socket. `handle` must not reject. */
export function createMessageQueue(handle: (text: string) => Promise<void>): MessageQueue {
  let waiting: string[] = [];
  let isRunning = false;

  async function run(): Promise<void> {
    isRunning = true;
    for (;;) {
      const [next, ...rest] = waiting;
      if (next === undefined) break;
      waiting = rest;
      await handle(next);
    }
    isRunning = false;
  }

  return {
    push(text) {
      if (waiting.length >= MAX_WAITING) return false;
      waiting.push(text);
      if (!isRunning) void run();
      return true;
    },
  };
}

/** The client as listeners of the events `websocket.*` see it. */
export { type ClientOfEvent, toClientOfEvent } from './realtime-events.ts';

import { Socket } from 'node:net';
import { encodeFrame, FrameReader } from '../protocol/frames.ts';
import type { ChildMessage } from '../protocol/messages.ts';

/** The inherited end of the socket pair. */
const FD = 3;
/** Bytes of the longest body from the host: an artifact, or an input with its envelope. */
const LONGEST_BODY = 64 * 1024 * 1024;
export interface Channel {
  send(message: ChildMessage, body?: Buffer | string): void;
}

/** `onFrame` is called for every frame of the host, `onEnd` once when there will be none any more. */
export function openChannel(onFrame: (header: unknown, body: Buffer) => void, onEnd: () => void): Channel {
  // An inherited pair needs no call that a filter of system calls would have to allow.
  const socket = new Socket({ fd: FD, readable: true, writable: true, allowHalfOpen: false });
  const reader = new FrameReader({ body: LONGEST_BODY }, onFrame);
  socket.on('data', (chunk: Buffer) => reader.push(chunk));
  socket.on('error', onEnd);
  socket.on('close', onEnd);
  return {
    // Nothing is held back to travel with others: the next guest may keep this thread, and an answer with it, for long.
    send(message, body) {
      for (const part of encodeFrame(message, body)) socket.write(part);
    },
  };
}

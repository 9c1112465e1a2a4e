import { Socket } from 'node:net';
import { encodeFrame, FrameReader } from '../protocol/frames.ts';
import type { ChildMessage } from '../protocol/messages.ts';

/** Descriptor of the inherited socket pair. */
const FD = 3;
/** Bytes of the longest body from the host: an artifact, or an input with its envelope. */
const LONGEST_BODY = 64 * 1024 * 1024;
export interface HostChannel {
  send(message: ChildMessage, body?: Buffer | string): void;
}

/** Calls `onFrame` for every frame of the host and `onEnd` when the channel ends. */
export function openHostChannel(onFrame: (header: unknown, body: Buffer) => void, onEnd: () => void): HostChannel {
  // An inherited socket pair needs no further system call that the seccomp filter would have to allow.
  const socket = new Socket({ fd: FD, readable: true, writable: true, allowHalfOpen: false });
  const reader = new FrameReader({ body: LONGEST_BODY }, onFrame);
  socket.on('data', (chunk: Buffer) => reader.push(chunk));
  socket.on('error', onEnd);
  socket.on('close', onEnd);
  return {
    // Frames are written immediately and not batched, since the next guest may block this thread for long.
    send(message, body) {
      for (const part of encodeFrame(message, body)) socket.write(part);
    },
  };
}

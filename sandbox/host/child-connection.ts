import type { Duplex } from 'node:stream';
import { encodeFrame, FrameReader } from '../protocol/frames.ts';
import type { ChildMessage, GuestLimits, HostMessage } from '../protocol/messages.ts';
import { parseChildMessage } from '../protocol/parse-child-message.ts';
import { UselessFrameThrottle } from './useless-frame-throttle.ts';

const MB = 1024 * 1024;
/**
 * Bytes queued for a child: above `MAX_QUEUED_WITH_BODY` messages with a body over `SMALL_BODY` are refused, above
 * `MAX_QUEUED` all messages.
 */
const MAX_QUEUED_WITH_BODY = 32 * MB;
const MAX_QUEUED = MAX_QUEUED_WITH_BODY + MB;
/** Above this many queued bytes the host stops reading from the child, since the child does not read either. */
const PAUSE_READING_ABOVE = 4 * MB;
/** Bytes of a body that is still accepted above `MAX_QUEUED_WITH_BODY`. */
const SMALL_BODY = 4096;
/** Bytes read from one child in one turn of the event loop, so that other work gets its turn. */
const BYTES_PER_TURN = 128 * 1024;
/** A body slightly over the limit does not break the connection: the worker answers it with an error. */
const BODY_SLACK = 64 * 1024;

const RATE_LIMITED = JSON.stringify({ code: 'rate_limited', message: 'Too many answers are on their way.' });

export interface ChildConnectionCallbacks {
  /** Called for each well-formed frame. */
  frame(message: ChildMessage, body: Buffer): void;
  /** Called once, when no more frames arrive. `fault` is the error of a malformed frame or of its handler. */
  ended(cause: 'died' | 'protocol', fault?: unknown): void;
}

/** The socket to one child. It bounds queued bytes in both directions and the time that the host spends on reading. */
export class ChildConnection {
  readonly #channel: Duplex;
  readonly #listener: ChildConnectionCallbacks;
  readonly #reader: FrameReader;
  readonly #throttle = new UselessFrameThrottle();
  #bytesThisTurn = 0;
  /** Reasons for which reading is paused. */
  readonly #pauses = new Set<'turn' | 'slow' | 'useless-frames'>();
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(channel: Duplex, limits: GuestLimits, listener: ChildConnectionCallbacks) {
    this.#channel = channel;
    this.#listener = listener;
    const body = Math.max(limits.result, limits.hostCall) + BODY_SLACK;
    this.#reader = new FrameReader({ body }, (header, bytes) => {
      if (!this.#closed) listener.frame(parseChildMessage(header), bytes);
    });
    channel.on('data', (chunk: Buffer) => this.#read(chunk));
    channel.on('drain', () => this.#resume('slow'));
    const died = () => this.#end('died');
    channel.on('end', died).on('close', died).on('error', died);
  }

  /** False when the message was not sent because too many bytes are queued for the child. */
  send(message: HostMessage, body = ''): boolean {
    const waiting = this.#channel.writableLength;
    if (this.#closed || waiting > (body.length > SMALL_BODY ? MAX_QUEUED_WITH_BODY : MAX_QUEUED)) return false;
    for (const part of encodeFrame(message, body)) this.#channel.write(part);
    if (this.#channel.writableLength > PAUSE_READING_ABOVE) this.#pause('slow');
    return true;
  }

  /** Sends the reply to a host call; where the queue has no room for it, a `rate_limited` error instead. */
  reply(id: number, call: number, ok: boolean, json: string): void {
    if (!this.send({ type: 'reply', id, call, ok }, json))
      this.send({ type: 'reply', id, call, ok: false }, RATE_LIMITED);
  }

  /** Counts a useless frame, such as a call of an unknown invocation, and pauses reading above the allowed rate. */
  recordUselessFrame(): void {
    const milliseconds = this.#throttle.recordUselessFrame();
    if (milliseconds === 0 || this.#pauses.has('useless-frames') || this.#closed) return;
    this.#pause('useless-frames');
    this.#timer = setTimeout(() => this.#resume('useless-frames'), milliseconds);
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    clearTimeout(this.#timer);
    this.#channel.destroy();
  }

  #read(chunk: Buffer): void {
    if (this.#closed) return;
    try {
      this.#reader.push(chunk);
    } catch (error) {
      this.#end('protocol', error);
    }
    this.#bytesThisTurn += chunk.length;
    if (this.#bytesThisTurn < BYTES_PER_TURN || this.#closed) return;
    this.#bytesThisTurn = 0;
    this.#pause('turn');
    setImmediate(() => this.#resume('turn'));
  }

  #pause(reason: 'turn' | 'slow' | 'useless-frames'): void {
    this.#pauses.add(reason);
    this.#channel.pause();
  }

  #resume(reason: 'turn' | 'slow' | 'useless-frames'): void {
    if (this.#pauses.delete(reason) && this.#pauses.size === 0 && !this.#closed) this.#channel.resume();
  }

  #end(cause: 'died' | 'protocol', fault?: unknown): void {
    if (this.#closed) return;
    this.close();
    this.#listener.ended(cause, fault);
  }
}

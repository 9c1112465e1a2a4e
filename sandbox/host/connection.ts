import type { Duplex } from 'node:stream';
import { encodeFrame, FrameReader } from '../protocol/frames.ts';
import type { ChildMessage, GuestLimits, HostMessage } from '../protocol/messages.ts';
import { parseChildMessage } from '../protocol/parse-child-message.ts';
import { Throttle } from './throttle.ts';

const MB = 1024 * 1024;
/** Bytes on their way to a child: above `FULL` nothing of size is added, above `DEAF` nothing at all. */
const MAX_QUEUED_WITH_BODY = 32 * MB;
const MAX_QUEUED = MAX_QUEUED_WITH_BODY + MB;
/** A child that does not take what it is sent is not listened to either. */
const PAUSE_READING_ABOVE = 4 * MB;
/** A message that must get through, by its size. */
const SMALL_BODY = 4096;
/** Bytes taken in one turn of the event loop, before others have theirs. */
const BYTES_PER_TURN = 128 * 1024;
/** Room for the error of a body that is a little too long: the worker says so, the connection does not break. */
const BODY_SLACK = 64 * 1024;

const RATE_LIMITED = JSON.stringify({ code: 'rate_limited', message: 'Too many answers are on their way.' });

export interface ConnectionListener {
  /** A frame in proper shape. */
  frame(message: ChildMessage, body: Buffer): void;
  /** Nothing more will arrive. The fault is what was wrong with a frame, or our own mistake in dealing with it. */
  ended(cause: 'died' | 'protocol', fault?: unknown): void;
}

/** The pipe to one child. What is under way in either direction is bounded, and so is the time it gets of the host. */
export class Connection {
  readonly #channel: Duplex;
  readonly #listener: ConnectionListener;
  readonly #reader: FrameReader;
  readonly #throttle = new Throttle();
  #bytesThisTurn = 0;
  /** Reasons not to read just now. */
  readonly #pauses = new Set<'turn' | 'slow' | 'waste'>();
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(channel: Duplex, limits: GuestLimits, listener: ConnectionListener) {
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

  /** False when it was not sent: the child does not take what it is sent already. */
  send(message: HostMessage, body = ''): boolean {
    const waiting = this.#channel.writableLength;
    if (this.#closed || waiting > (body.length > SMALL_BODY ? MAX_QUEUED_WITH_BODY : MAX_QUEUED)) return false;
    for (const part of encodeFrame(message, body)) this.#channel.write(part);
    if (this.#channel.writableLength > PAUSE_READING_ABOVE) this.#pause('slow');
    return true;
  }

  /** The answer to a call; where there is no room for it, that is the answer. */
  reply(id: number, call: number, ok: boolean, json: string): void {
    if (!this.send({ type: 'reply', id, call, ok }, json))
      this.send({ type: 'reply', id, call, ok: false }, RATE_LIMITED);
  }

  /** The last frame was of no use to anybody. */
  recordUselessFrame(): void {
    const milliseconds = this.#throttle.recordUselessFrame();
    if (milliseconds === 0 || this.#pauses.has('waste') || this.#closed) return;
    this.#pause('waste');
    this.#timer = setTimeout(() => this.#resume('waste'), milliseconds);
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

  #pause(reason: 'turn' | 'slow' | 'waste'): void {
    this.#pauses.add(reason);
    this.#channel.pause();
  }

  #resume(reason: 'turn' | 'slow' | 'waste'): void {
    if (this.#pauses.delete(reason) && this.#pauses.size === 0 && !this.#closed) this.#channel.resume();
  }

  #end(cause: 'died' | 'protocol', fault?: unknown): void {
    if (this.#closed) return;
    this.close();
    this.#listener.ended(cause, fault);
  }
}

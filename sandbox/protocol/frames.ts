/** Bytes of the longest header. */
export const MAX_FRAME_HEADER = 64 * 1024;
const PREFIX_BYTES = 8;
/** Bodies up to this size are copied into one buffer with their header. */
const MAX_JOINED_BODY = 16 * 1024;

/** The other side sent bytes that are no frame, or a frame over the limit. The stream cannot be read any further. */
export class FrameError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'FrameError';
  }
}

/** Encodes a header and a body as one frame. Throws a FrameError where the header is too long. */
export function encodeFrame(header: object, body: Buffer | string = ''): Buffer[] {
  const head = JSON.stringify(header);
  const headLength = Buffer.byteLength(head);
  if (headLength > MAX_FRAME_HEADER) throw new FrameError('header too long');
  const bodyLength = typeof body === 'string' ? Buffer.byteLength(body) : body.length;
  const apart = typeof body !== 'string' && bodyLength > MAX_JOINED_BODY;
  const frame = Buffer.allocUnsafe(PREFIX_BYTES + headLength + (apart ? 0 : bodyLength));
  frame.writeUInt32BE(headLength, 0);
  frame.writeUInt32BE(bodyLength, 4);
  frame.write(head, PREFIX_BYTES, 'utf8');
  if (typeof body === 'string') frame.write(body, PREFIX_BYTES + headLength, 'utf8');
  else if (!apart) body.copy(frame, PREFIX_BYTES + headLength);
  return apart ? [frame, body as Buffer] : [frame];
}

export interface FrameLimits {
  /** Bytes of the longest body. */
  readonly body: number;
  /** Bytes of the longest header. Default: 64 KiB. */
  readonly header?: number;
}

type OnFrame = (header: Record<string, unknown>, body: Buffer) => void;

/**
 * Splits a stream of bytes into frames. Lengths are checked when they are announced. Memory is allocated for received
 * bytes and not for announced ones, so that a sender cannot make the reader hold more than twice the sent bytes or more
 * than one longest frame.
 */
export class FrameReader {
  readonly #limits: Required<FrameLimits>;
  readonly #onFrame: OnFrame;
  /** Lengths of the frame under way, once they are known. */
  #head: { header: number; body: number } | undefined;
  /** Received bytes of a prefix or frame that arrived in several chunks. */
  #pending: Buffer = Buffer.alloc(0);
  #filled = 0;
  #failed = false;

  constructor(limits: FrameLimits, onFrame: OnFrame) {
    this.#limits = { header: MAX_FRAME_HEADER, ...limits };
    this.#onFrame = onFrame;
  }

  /**
   * Reads received bytes. Throws a FrameError, or what `onFrame` throws; after either the reader takes no more bytes.
   */
  push(chunk: Buffer): void {
    if (this.#failed) throw new FrameError('the stream has already failed');
    try {
      let offset = 0;
      while (offset < chunk.length) offset = this.#consume(chunk, offset);
    } catch (error) {
      this.#failed = true;
      this.#pending = Buffer.alloc(0);
      throw error;
    }
  }

  #consume(chunk: Buffer, offset: number): number {
    const needed = this.#head ? this.#head.header + this.#head.body : PREFIX_BYTES;
    const end = offset + Math.min(needed - this.#filled, chunk.length - offset);
    if (this.#filled === 0 && end - offset === needed) {
      this.#complete(chunk.subarray(offset, end));
      return end;
    }
    this.#grow(this.#filled + end - offset, needed);
    this.#filled += chunk.copy(this.#pending, this.#filled, offset, end);
    if (this.#filled === needed) {
      const whole = this.#pending.subarray(0, needed);
      this.#pending = Buffer.alloc(0);
      this.#filled = 0;
      this.#complete(whole);
    }
    return end;
  }

  /** Doubles the buffer, so that a frame in many small chunks is not copied for each of them. */
  #grow(least: number, most: number): void {
    if (this.#pending.length >= least) return;
    const larger = Buffer.allocUnsafe(Math.min(most, Math.max(least, this.#pending.length * 2)));
    this.#pending.copy(larger, 0, 0, this.#filled);
    this.#pending = larger;
  }

  #complete(piece: Buffer): void {
    if (!this.#head) {
      const head = { header: piece.readUInt32BE(0), body: piece.readUInt32BE(4) };
      if (head.header > this.#limits.header) throw new FrameError('header too long');
      if (head.header === 0) throw new FrameError('header missing');
      if (head.body > this.#limits.body) throw new FrameError('body too long');
      this.#head = head;
      return;
    }
    const { header } = this.#head;
    this.#head = undefined;
    this.#onFrame(parseHeader(piece.subarray(0, header)), piece.subarray(header));
  }
}

function parseHeader(bytes: Buffer): Record<string, unknown> {
  let header: unknown;
  try {
    header = JSON.parse(bytes.toString('utf8'));
  } catch {
    throw new FrameError('header is not JSON');
  }
  if (typeof header !== 'object' || header === null || Array.isArray(header)) {
    throw new FrameError('header is not an object');
  }
  return header as Record<string, unknown>;
}

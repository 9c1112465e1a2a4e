import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import type { Dicer } from '@fastify/busboy';
import { ClientGone, fail } from '#kernel';

/** A part of a form whose headers are there. Its bytes are read to their end before the next part is asked for. */
export interface Part {
  /** Names in lower case; characters stand for bytes. */
  readonly headers: Readonly<Record<string, readonly string[]>>;
  readonly bytes: AsyncIterable<Uint8Array>;
}

/** The parts of a body in their order, each taken from the connection when it is asked for. */
export interface Parts {
  /** Undefined after the last. Rejects for what is no form, for one that breaks off, and when the client stops sending. */
  next(): Promise<Part | undefined>;
  /** What is still to come is discarded; where the form has not ended, readers fail with `reason`. */
  close(reason?: Error): void;
}

interface Options {
  readonly boundary: string;
  /** Milliseconds the client may send nothing while somebody waits for it; 0 is no limit. */
  readonly stall: number;
}

const HEADERS = { maxHeaderPairs: 20, maxHeaderSize: 16 * 1024 };

const malformed = () => fail('INVALID_PAYLOAD', 'The form is malformed or breaks off.');

/** Parsing is loaded with the first form. */
export async function partsOf(req: IncomingMessage, { boundary, stall }: Options): Promise<Parts> {
  const { Dicer } = await import('@fastify/busboy');
  return new ParsedParts(req, new Dicer({ boundary, ...HEADERS }), stall);
}

/** What the parser makes of a request, until the form ends, is malformed, or its client leaves. */
class ParsedParts implements Parts {
  readonly #req: IncomingMessage;
  readonly #parser: Dicer;
  readonly #stall: number;
  readonly #idle: NodeJS.Timeout | undefined;
  readonly #arrived: Part[] = [];
  readonly #open = new Set<Readable>();
  /** One whose headers are not there yet; another part after it means that they never came. */
  #headless: Readable | undefined;
  #failure: unknown;
  #isDone = false;
  #wake = () => {};

  constructor(req: IncomingMessage, parser: Dicer, stall: number) {
    this.#req = req;
    this.#parser = parser;
    this.#stall = stall;
    this.#idle = stall > 0 ? setTimeout(() => this.#checkIdle(), stall) : undefined;
    this.#readParser();
    this.#readRequest();
  }

  async next(): Promise<Part | undefined> {
    while (this.#arrived.length === 0 && this.#failure === undefined && !this.#isDone)
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    if (this.#failure !== undefined) throw this.#failure;
    return this.#arrived.shift();
  }

  close(reason: Error = malformed()): void {
    this.#fail(reason);
  }

  #readParser(): void {
    this.#parser.on('part', (part) => this.#readPart(part));
    this.#parser.on('error', () => this.#fail(malformed()));
    this.#parser.on('finish', () => {
      if (this.#headless) return this.#fail(malformed());
      this.#isDone = true;
      this.#stop();
      this.#wake();
    });
  }

  #readPart(part: Dicer.PartStream): void {
    // The parser tells a part that breaks off, whether anybody listens or not.
    part.on('error', () => {});
    if (this.#headless) {
      this.#fail(malformed());
      return;
    }
    this.#headless = part;
    this.#open.add(part);
    part.on('close', () => this.#open.delete(part));
    part.on('header', (headers) => {
      this.#headless = undefined;
      this.#arrived.push({ headers: headers as Part['headers'], bytes: this.#bytesOf(part) });
      this.#wake();
    });
  }

  #readRequest(): void {
    const req = this.#req;
    req.on('error', () => this.#fail(new ClientGone()));
    req.on('close', () => {
      if (!req.complete) this.#fail(new ClientGone());
    });
    if (req.destroyed && !req.complete) this.#fail(new ClientGone());
    else {
      req.on('end', () => clearTimeout(this.#idle));
      req.on('data', () => void this.#idle?.refresh());
      req.pipe(this.#parser);
    }
  }

  /** The parser and the connection have words of their own for what went wrong. */
  async *#bytesOf(part: Readable): AsyncGenerator<Uint8Array> {
    try {
      yield* part;
    } catch (error) {
      throw this.#failure ?? error;
    }
  }

  #checkIdle(): void {
    // Where what came is not yet worked on, it is not the client who is slow.
    if (this.#parser.writableLength > 0) this.#idle?.refresh();
    else
      this.#fail(
        fail('OUT_OF_TIME', `Nothing was sent for ${this.#stall} ms.`, { category: 'upload', duration: this.#stall }),
      );
  }

  #fail(error: unknown): void {
    if (this.#failure !== undefined || this.#isDone) return;
    this.#failure = error;
    this.#stop();
    for (const part of this.#open) part.destroy(error as Error);
    this.#wake();
  }

  #stop(): void {
    clearTimeout(this.#idle);
    this.#req.unpipe(this.#parser);
    // What is left is taken off the line: a client that still sends does not read the answer.
    this.#req.resume();
  }
}

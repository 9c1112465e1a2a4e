import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import type { Dicer } from '@fastify/busboy';
import { ClientGone, fail } from '#kernel';

/** A part of a form whose headers are complete. Read its bytes to their end before the next part. */
export interface FormPart {
  /** Names in lower case; values in latin1. */
  readonly headers: Readonly<Record<string, readonly string[]>>;
  readonly bytes: AsyncIterable<Uint8Array>;
}

/** The parts of a body in their order. Each is read from the connection on demand. */
export interface FormPartReader {
  /**
   * The next part; undefined after the last. @throws INVALID_PAYLOAD, ClientGone, or OUT_OF_TIME when the client stops sending.
   */
  next(): Promise<FormPart | undefined>;
  /** Discards the rest of the body. If the form has not ended, readers fail with `reason`. */
  close(reason?: Error): void;
}

interface PartOptions {
  readonly boundary: string;
  /** Milliseconds that the client may send nothing while a reader waits; 0 is no limit. */
  readonly idleTimeout: number;
}

const HEADERS = { maxHeaderPairs: 20, maxHeaderSize: 16 * 1024 };

const createMalformedFailure = () => fail('INVALID_PAYLOAD', 'The form is malformed or breaks off.');

/** Reads the parts of a multipart form from a request. The parser is loaded with the first form. */
export async function createFormPartReader(
  req: IncomingMessage,
  { boundary, idleTimeout }: PartOptions,
): Promise<FormPartReader> {
  const { Dicer } = await import('@fastify/busboy');
  return new ParsedParts(req, new Dicer({ boundary, ...HEADERS }), idleTimeout);
}

/** The parts that the parser reads, until the form ends, is malformed, or the client leaves. */
class ParsedParts implements FormPartReader {
  readonly #req: IncomingMessage;
  readonly #parser: Dicer;
  readonly #idleTimeout: number;
  readonly #idle: NodeJS.Timeout | undefined;
  readonly #arrived: FormPart[] = [];
  readonly #open = new Set<Readable>();
  /** A part whose headers are not complete. Another part after it means that the form is malformed. */
  #headless: Readable | undefined;
  #failure: unknown;
  #isDone = false;
  #wake = () => {};

  constructor(req: IncomingMessage, parser: Dicer, idleTimeout: number) {
    this.#req = req;
    this.#parser = parser;
    this.#idleTimeout = idleTimeout;
    this.#idle = idleTimeout > 0 ? setTimeout(() => this.#checkIdle(), idleTimeout) : undefined;
    this.#readParser();
    this.#readRequest();
  }

  async next(): Promise<FormPart | undefined> {
    while (this.#arrived.length === 0 && this.#failure === undefined && !this.#isDone)
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    if (this.#failure !== undefined) throw this.#failure;
    return this.#arrived.shift();
  }

  close(reason: Error = createMalformedFailure()): void {
    this.#fail(reason);
  }

  #readParser(): void {
    this.#parser.on('part', (part) => this.#readPart(part));
    this.#parser.on('error', () => this.#fail(createMalformedFailure()));
    this.#parser.on('finish', () => {
      if (this.#headless) return this.#fail(createMalformedFailure());
      this.#isDone = true;
      this.#stop();
      this.#wake();
    });
  }

  #readPart(part: Dicer.PartStream): void {
    // A part that breaks off emits an error, which would end the process without a listener.
    part.on('error', () => {});
    if (this.#headless) {
      this.#fail(createMalformedFailure());
      return;
    }
    this.#headless = part;
    this.#open.add(part);
    part.on('close', () => this.#open.delete(part));
    part.on('header', (headers) => {
      this.#headless = undefined;
      this.#arrived.push({ headers: headers as FormPart['headers'], bytes: this.#bytesOf(part) });
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

  /** Readers fail with the reason of the form in place of the errors of parser and connection. */
  async *#bytesOf(part: Readable): AsyncGenerator<Uint8Array> {
    try {
      yield* part;
    } catch (error) {
      throw this.#failure ?? error;
    }
  }

  #checkIdle(): void {
    // While received bytes wait for a reader, the client is not the slow side.
    if (this.#parser.writableLength > 0) this.#idle?.refresh();
    else
      this.#fail(
        fail('OUT_OF_TIME', `Nothing was sent for ${this.#idleTimeout} ms.`, {
          category: 'upload',
          duration: this.#idleTimeout,
        }),
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
    // Discards the rest: a client that still sends does not read the response.
    this.#req.resume();
  }
}

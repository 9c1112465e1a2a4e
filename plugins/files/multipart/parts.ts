import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
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
  /** Whatever is still to come is nobody's. */
  close(): void;
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
  const parser = new Dicer({ boundary, ...HEADERS });
  const arrived: Part[] = [];
  const open = new Set<Readable>();
  /** One whose headers are not there yet; another part after it means that they never came. */
  let headless: Readable | undefined;
  let failure: unknown;
  let isDone = false;
  let wake = () => {};

  const stop = () => {
    clearTimeout(patience);
    req.unpipe(parser);
    // What is left is taken off the line: a client that still sends does not read the answer.
    req.resume();
  };
  const broken = (error: unknown) => {
    if (failure !== undefined || isDone) return;
    failure = error;
    stop();
    for (const part of open) part.destroy(error as Error);
    wake();
  };
  /** The parser and the connection have words of their own for what went wrong. */
  async function* bytesOf(part: Readable): AsyncGenerator<Uint8Array> {
    try {
      yield* part;
    } catch (error) {
      throw failure ?? error;
    }
  }
  const checkPatience = () => {
    // Where what came is not yet worked on, it is not the client who is slow.
    if (parser.writableLength > 0) patience?.refresh();
    else broken(fail('OUT_OF_TIME', 'Nothing was sent for too long.', { category: 'upload', duration: stall }));
  };
  const patience = stall > 0 ? setTimeout(checkPatience, stall) : undefined;

  parser.on('part', (part) => {
    // The parser tells a part that breaks off, whether anybody listens or not.
    part.on('error', () => {});
    if (headless) return broken(malformed());
    headless = part;
    open.add(part);
    part.on('close', () => open.delete(part));
    part.on('header', (headers) => {
      headless = undefined;
      arrived.push({ headers: headers as Part['headers'], bytes: bytesOf(part) });
      wake();
    });
  });
  parser.on('error', () => broken(malformed()));
  parser.on('finish', () => {
    if (headless) return broken(malformed());
    isDone = true;
    stop();
    wake();
  });
  req.on('error', () => broken(new ClientGone()));
  req.on('close', () => {
    if (!req.complete) broken(new ClientGone());
  });
  if (req.destroyed && !req.complete) broken(new ClientGone());
  else {
    req.on('end', () => clearTimeout(patience));
    req.on('data', () => void patience?.refresh());
    req.pipe(parser);
  }

  return {
    async next() {
      while (arrived.length === 0 && failure === undefined && !isDone)
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      if (failure !== undefined) throw failure;
      return arrived.shift();
    },
    close: () => broken(malformed()),
  };
}

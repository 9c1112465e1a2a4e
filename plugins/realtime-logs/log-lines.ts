import { symbols } from 'pino';
import type { Log } from '#kernel';

/** The part of pino's destination that each line passes. */
interface LineStream {
  write(line: string): unknown;
}

type Listener = (line: string) => void;

/** The lines of the log of this process, while a client follows them. Secrets are already redacted. */
export class LogLines {
  readonly #stream: LineStream;
  readonly #listeners = new Set<Listener>();
  #restore: (() => void) | undefined;

  constructor(log: Log) {
    this.#stream = (log as unknown as Record<symbol, LineStream>)[symbols.streamSym] as LineStream;
  }

  /** Answers the function that stops it. */
  follow(listener: Listener): () => void {
    this.#listeners.add(listener);
    this.#restore ??= this.#watch();
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size === 0) this.stop();
    };
  }

  stop(): void {
    this.#listeners.clear();
    this.#restore?.();
    this.#restore = undefined;
  }

  /** Puts a function before the destination of all loggers of the process, which is taken away again with the last listener. */
  #watch(): () => void {
    const stream = this.#stream;
    const hadOwn = Object.hasOwn(stream, 'write');
    const { write } = stream;
    stream.write = (line) => {
      for (const listener of this.#listeners) listener(line);
      return write.call(stream, line);
    };
    return () => {
      if (hadOwn) stream.write = write;
      else delete (stream as Partial<LineStream>).write;
    };
  }
}

import type { Db, Share } from '../database/contract.ts';
import type { Prepared, Stream } from './contract.ts';
import { throwQueryFailure } from './failures.ts';

interface Options {
  readonly signal: AbortSignal | undefined;
  readonly share: Share;
  /** Told once, at the end, how long the database worked on it: without the time in which nobody asked for more. */
  readonly onEnd: (ms: number) => void;
}

/** Takes the first batch off a cursor, so that a bad value or a missing table is an error and not half an answer. */
export async function streamRows(
  db: Db,
  { text, hasMeta }: Prepared,
  params: readonly unknown[],
  { signal, share, onEnd }: Options,
): Promise<Stream> {
  const rows = db.stream(text, params, signal ? { signal, share } : { share });
  let spent = 0;
  let ended = false;
  const end = () => {
    if (!ended) onEnd(spent);
    ended = true;
  };
  const next = async (): Promise<IteratorResult<readonly string[], void>> => {
    const from = performance.now();
    let more = false;
    try {
      const result = await rows.next().catch((error) => throwQueryFailure(error, share.collection));
      more = !result.done;
      return result;
    } finally {
      spent += performance.now() - from;
      if (!more) end();
    }
  };

  const first = await next();
  let waiting: readonly string[] | undefined = first.value ?? [];
  const meta = hasMeta ? (waiting[0] ?? null) : null;
  if (hasMeta) waiting = waiting.slice(1);
  // Not a generator: one that is left before it began would not tell the cursor.
  const batches: AsyncIterableIterator<readonly string[], void> = {
    [Symbol.asyncIterator]: () => batches,
    async next() {
      const value = waiting;
      waiting = undefined;
      return value && value.length > 0 ? { done: false, value } : next();
    },
    async return() {
      end();
      await rows.return();
      return { done: true, value: undefined };
    },
  };
  return { meta, batches };
}

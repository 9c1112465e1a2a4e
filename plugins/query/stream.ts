import type { Db, PoolShareHolder } from '../database/contract.ts';
import type { PreparedStatement, RowStream } from './contract.ts';
import { throwQueryFailure } from './failures.ts';

interface StreamOptions {
  readonly signal: AbortSignal | undefined;
  readonly share: PoolShareHolder;
  /** Called once at the end with the milliseconds the database worked, without the time between batches. */
  readonly onEnd: (ms: number) => void;
}

/**
 * Streams the rows of a statement through a cursor. Fetches the first batch before it resolves, so that a bad value or a missing
 * table is an error and not a broken response.
 */
export async function streamRows(
  db: Db,
  { text, hasMeta }: PreparedStatement,
  params: readonly unknown[],
  { signal, share, onEnd }: StreamOptions,
): Promise<RowStream> {
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
  // An iterator and not a generator: `return()` on a generator that has not started would not close the cursor.
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

import type { ReadNode, ReadResultText, RowStream } from '../../query/contract.ts';

/** Up to this many rows an answer is one text, whatever its size. */
const MAX_ROWS_IN_ONE_TEXT = 1000;
/** Characters of a long read that are buffered, in case they are all of it. */
const MAX_BUFFERED_CHARACTERS = 256 * 1024;

/**
 * Whether a read may have more rows than should be in memory at a time. Groups need all rows anyway, and a single row
 * is one.
 */
export const isPossiblyLongRead = ({ limit, single, aggregate, keys }: ReadNode): boolean =>
  !single && !aggregate && !keys && (limit === null || limit > MAX_ROWS_IN_ONE_TEXT);

export const isShortReadResult = ({ data }: ReadResultText): boolean =>
  (data?.length ?? 0) <= 4 * MAX_BUFFERED_CHARACTERS;

/** Turns a stream that ends early into an ordinary answer, with its length and its entity tag. */
export async function toReadResultTextIfShort({ meta, batches }: RowStream): Promise<ReadResultText | RowStream> {
  const iterator = batches[Symbol.asyncIterator]();
  const buffered: (readonly string[])[] = [];
  for (let size = 0; size < MAX_BUFFERED_CHARACTERS; ) {
    const { done, value } = await iterator.next();
    if (done) return { data: `[${buffered.map((batch) => batch.join(',')).join(',')}]`, meta };
    buffered.push(value);
    for (const { length } of value) size += length;
  }
  // Not a generator: one that is abandoned before its first step would not close the cursor.
  const rest: AsyncIterableIterator<readonly string[]> = {
    [Symbol.asyncIterator]: () => rest,
    next: async () => {
      const value = buffered.shift();
      return value ? { done: false, value } : iterator.next();
    },
    return: async () => (await iterator.return?.()) ?? { done: true, value: undefined },
  };
  return { meta, batches: rest };
}

/** The answer of a long read, in parts: a batch is joined and encoded at once. */
export async function* renderReadEnvelope({ meta, batches }: RowStream): AsyncGenerator<Uint8Array, void, undefined> {
  let before = '{"data":[';
  for await (const batch of batches) {
    yield Buffer.from(before + batch.join(','));
    before = ',';
  }
  yield Buffer.from(`${before === ',' ? '' : before}]${meta === null ? '' : `,"meta":${meta}`}}`);
}

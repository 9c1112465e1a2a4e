import type { RowStream } from '../../query/contract.ts';

/**
 * Streams a response with one long list: each batch of rows becomes one part of bytes. This is no generator, since
 * `return` of a generator that has not started would not close the cursor.
 */
export function streamSingleListResponse(key: string, { batches }: RowStream): AsyncIterableIterator<Uint8Array, void> {
  const rows = batches[Symbol.asyncIterator]();
  let before = `{"data":{"${key}":[`;
  let isDone = false;
  const parts: AsyncIterableIterator<Uint8Array, void> = {
    [Symbol.asyncIterator]: () => parts,
    async next() {
      if (isDone) return { done: true, value: undefined };
      const { done, value } = await rows.next();
      const text = done ? `${before === ',' ? '' : before}]}}` : before + value.join(',');
      before = ',';
      isDone = done ?? false;
      return { done: false, value: Buffer.from(text) };
    },
    async return() {
      isDone = true;
      await rows.return?.();
      return { done: true, value: undefined };
    },
  };
  return parts;
}

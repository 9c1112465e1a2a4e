import { type Caller, Failure } from '#kernel';
import type { ItemsEngine } from '../../items/contract.ts';
import type { KeyedRowText, ReadResultText, RowStream } from '../../query/contract.ts';
import type { Question } from './question.ts';

/**
 * Reads rows of a collection to whose reads an extension listens: the listener receives the rows on behalf of the caller and may change or
 * hide them. Row by row, since a list does not say which of its rows has which key.
 */
export async function readRowsForListeners(
  items: Pick<ItemsEngine, 'readKeys' | 'select'>,
  caller: Caller,
  { collection, query, selection, text }: Question,
  keys: readonly string[],
): Promise<readonly KeyedRowText[]> {
  const found: KeyedRowText[] = [];
  for (const key of keys) {
    const answer = await orNothing(
      selection
        ? items.select(caller, collection, { selection: () => selection, text, keys: [key] })
        : items.readKeys(caller, collection, [key], query),
    );
    const row = answer === undefined ? undefined : onlyRowOf(answer);
    if (row !== undefined) found.push({ key: JSON.stringify(key), row });
  }
  return found;
}

/** A listener that rejects a read hides the row. */
const orNothing = <T>(reading: Promise<T>): Promise<T | undefined> =>
  reading.catch((error) => {
    if (error instanceof Failure && error.code === 'SERVICE_UNAVAILABLE') throw error;
    return undefined;
  });

function onlyRowOf(answer: ReadResultText | RowStream): string | undefined {
  if ('batches' in answer || answer.data === null) return undefined;
  const rows: unknown = JSON.parse(answer.data);
  return Array.isArray(rows) && rows.length === 1 ? JSON.stringify(rows[0]) : undefined;
}

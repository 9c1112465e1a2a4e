import type { ImportRow } from '../../items/contract.ts';
import type { SourceRow } from './source-row.ts';

/** Rows and characters of one batch, which is written by one statement or a few: small enough that its objects die young. */
const MAX_ROWS = 100;
const MAX_CHARACTERS = 256 * 1024;

/** Groups rows into batches of bounded size. */
export async function* toBatches(
  rows: AsyncIterable<SourceRow>,
): AsyncGenerator<readonly ImportRow[], void, undefined> {
  let batch: SourceRow[] = [];
  let size = 0;
  for await (const row of rows) {
    batch.push(row);
    size += row.size;
    if (batch.length < MAX_ROWS && size < MAX_CHARACTERS) continue;
    yield batch;
    batch = [];
    size = 0;
  }
  if (batch.length > 0) yield batch;
}

import pg from 'pg';
import { fail } from '#kernel';
import { resolveSignal, runCancellable, type SignalSource } from './cancel.ts';
import type { Share } from './contract.ts';
import { createFairSemaphore, SERVICE_SHARE } from './fair-semaphore.ts';
import type { UnitsOfWork } from './unit-of-work.ts';

export type StreamRows = (
  text: string,
  params?: readonly unknown[],
  options?: { readonly signal?: SignalSource; readonly share?: Share },
  own?: Share,
) => AsyncGenerator<readonly string[], void, undefined>;

/** Few, since nothing is known about their size yet. */
const FIRST_BATCH = 100;
const LARGEST_BATCH = 2000;
/** Characters of a batch: more costs memory for every reader, less costs round trips. */
const BATCH_SIZE = 256 * 1024;

/** The one column of a cursor's rows as the server wrote it: no object and no list a row. */
class ColumnQuery extends pg.Query {
  readonly values: string[] = [];
  // The driver calls it for each row.
  handleDataRow({ fields }: { readonly fields: readonly string[] }): void {
    this.values.push(fields[0] as string);
  }
}

/**
 * Reads through a cursor of the server's, a batch at a time and the next one only when it is asked for. A cursor that
 * is fetched from by statements has the time limit of a statement for each fetch; in a portal of the protocol it would
 * count, and end the read, while a slow reader is still busy with what it has.
 *
 * A reader holds its connection until it has read everything, so readers may take half of the pool at most.
 */
export function createStreamRows(units: UnitsOfWork, poolSize: number, deadline: number): StreamRows {
  const limit = Math.max(1, Math.floor(poolSize / 2));
  const streamSlots = createFairSemaphore({ limit, deadline, label: `places of large reads (${limit})` });

  return async function* stream(text, params = [], options = {}, defaultShare = SERVICE_SHARE) {
    const signal = resolveSignal(options.signal);
    const share = options.share ?? defaultShare;
    await streamSlots.acquire(share, signal);
    try {
      const { client, inUnit, release } = await units.lease(false, share, signal);
      if (inUnit) {
        release();
        throw fail('INTERNAL_SERVER_ERROR', 'a stream would keep its unit of work from all other statements');
      }
      let broken = true;
      try {
        yield* fetchAll(client, text, params, signal);
      } finally {
        // Ends a transaction that failed as well.
        broken = await client.query('commit').then(
          () => false,
          () => true,
        );
        release(broken);
      }
    } finally {
      streamSlots.release(share);
    }
  };
}

async function* fetchAll(
  client: pg.ClientBase,
  text: string,
  params: readonly unknown[],
  signal: AbortSignal | undefined,
): AsyncGenerator<readonly string[], void, undefined> {
  const run = <T>(work: () => Promise<T>): Promise<T> => (signal ? runCancellable(client, signal, work) : work());
  // All rows will be read, so the plan that has the first of them soonest is not what is wanted.
  await client.query('begin; set local cursor_tuple_fraction to 1');
  await run(() => client.query(`declare rows no scroll cursor for ${text}`, params as unknown[]));
  for (let count = FIRST_BATCH; ; ) {
    const values = await run(() => fetchBatch(client, count));
    if (values.length > 0) yield values;
    if (values.length < count) return;
    let size = 0;
    for (const { length } of values) size += length;
    const fitting = Math.floor(BATCH_SIZE / Math.max(1, size / count));
    count = Math.min(LARGEST_BATCH, Math.max(1, fitting));
  }
}

const fetchBatch = (client: pg.ClientBase, count: number): Promise<string[]> =>
  new Promise((resolve, reject) => {
    const column = new ColumnQuery(`fetch ${count} from rows`, (error) =>
      error ? reject(error) : resolve(column.values),
    );
    client.query(column);
  });

import pg from 'pg';
import { fail } from '#kernel';
import { type AbortSignalOrFactory, resolveSignal, runCancellable } from './cancel.ts';
import type { PoolShareHolder } from './contract.ts';
import { createPoolSlotSemaphore, SERVICE_POOL_SHARE } from './pool-slot-semaphore.ts';
import type { UnitsOfWork } from './unit-of-work.ts';

export type CursorColumnStreamer = (
  text: string,
  params?: readonly unknown[],
  options?: { readonly signal?: AbortSignalOrFactory; readonly share?: PoolShareHolder },
  own?: PoolShareHolder,
) => AsyncGenerator<readonly string[], void, undefined>;

/** Rows of the first batch: few, because their size is not known yet. */
const FIRST_BATCH = 100;
const LARGEST_BATCH = 2000;
/** Characters of a batch: a larger batch costs memory for every reader, a smaller one costs round trips. */
const BATCH_SIZE = 256 * 1024;

/** Reads the only column of a cursor's rows as text, without an object or a list for each row. */
class ColumnQuery extends pg.Query {
  readonly values: string[] = [];
  // The driver pg calls this method for each row.
  handleDataRow({ fields }: { readonly fields: readonly string[] }): void {
    this.values.push(fields[0] as string);
  }
}

/**
 * Reads through an SQL cursor, one batch for each `next`. Each `fetch` statement has the statement timeout to itself.
 * With a portal of the wire protocol one timeout would cover the whole read, and end it while a slow reader works on a
 * batch.
 *
 * A stream holds its connection until it is read to the end, so streams may take half of the pool at most.
 */
export function createCursorColumnStreamer(
  units: UnitsOfWork,
  poolSize: number,
  deadline: number,
): CursorColumnStreamer {
  const limit = Math.max(1, Math.floor(poolSize / 2));
  const streamSlots = createPoolSlotSemaphore({ limit, deadline, label: `connections for streams (${limit})` });

  return async function* stream(text, params = [], options = {}, defaultShare = SERVICE_POOL_SHARE) {
    const signal = resolveSignal(options.signal);
    const share = options.share ?? defaultShare;
    await streamSlots.acquire(share, signal);
    try {
      const { client, inUnit, release } = await units.lease(false, share, signal);
      if (inUnit) {
        release();
        throw fail(
          'INTERNAL_SERVER_ERROR',
          'db.stream was called inside a unit of work, whose other statements it would block',
        );
      }
      let broken = true;
      try {
        yield* fetchAll(client, text, params, signal);
      } finally {
        // `commit` also ends a transaction that failed.
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
  // The planner shall optimise for all rows, not for the first ones.
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

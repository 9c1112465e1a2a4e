import { fail } from '#kernel';
import type { Db } from '../database/contract.ts';
import { SHARES_COLLECTION } from './collections.ts';

type Payload = Readonly<Record<string, unknown>>;

/** @throws INVALID_PAYLOAD where a share would end before it begins. `shares`: keys of the rows that an update changes. */
export type AssertShareDates = (payload: Payload, shares: readonly string[]) => Promise<void>;

export function createAssertDates(db: Db): AssertShareDates {
  const DATES = db.sql`select date_start, date_end from ${db.read(SHARES_COLLECTION)} where id = any($1::uuid[])`;

  return async ({ date_start: start, date_end: end }, shares) => {
    if (start === undefined && end === undefined) return;
    const isComplete = start !== undefined && end !== undefined;
    const rows = isComplete ? [] : (await db.query<Payload>(DATES, [shares])).rows;
    for (const row of rows.length > 0 ? rows : [{}])
      assertOrder({ ...row, ...(start === undefined ? {} : { start }), ...(end === undefined ? {} : { end }) });
  };

  function assertOrder({ date_start, date_end, start = date_start, end = date_end }: Payload): void {
    const [from, until] = [millisecondsOf(start), millisecondsOf(end)];
    // A text that is no date is refused when it is written.
    if (from === undefined || until === undefined || from < until) return;
    throw fail('INVALID_PAYLOAD', 'date_end must be after date_start.', { field: 'date_end', path: ['date_end'] });
  }
}

function millisecondsOf(value: unknown): number | undefined {
  if (typeof value !== 'string' && !(value instanceof Date)) return undefined;
  const time = new Date(value).getTime();
  return Number.isNaN(time) ? undefined : time;
}

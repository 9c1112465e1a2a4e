import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { FreshDatabase } from '../../test/support/database.ts';
import type { Writer } from './writers.ts';

/** What is wrong with a restored database and its folder; and how many rows and files were compared. */
export interface RestoredReport {
  readonly problems: readonly string[];
  readonly files: number;
  readonly rows: number;
}

/**
 * Compares rows with bytes, both ways, and rows with the moment of the snapshot: what was answered before it is there, and what was
 * sent after it is not.
 */
export async function checkRestored(
  database: FreshDatabase,
  folder: string,
  snapshot: number,
  writers: readonly Writer[],
): Promise<RestoredReport> {
  const problems: string[] = [];
  const rows = await database.query<{ name: string; size: string; hash: string }>(
    'select filename_disk as name, filesize::text as size, description as hash from platform_files where filename_disk is not null',
  );
  for (const { name, size, hash } of rows) {
    const bytes = await readFile(join(folder, name)).catch(() => undefined);
    if (!bytes) problems.push(`the bytes of ${name} are missing`);
    else if (String(bytes.length) !== size || createHash('sha256').update(bytes).digest('hex') !== hash)
      problems.push(`the bytes of ${name} are not those of its row`);
  }
  const names = new Set(rows.map(({ name }) => name));
  for (const entry of await readdir(folder, { withFileTypes: true }))
    if (entry.isFile() && !entry.name.startsWith('.') && !names.has(entry.name))
      problems.push(`${entry.name} belongs to no row`);

  const sums = await database.query<{ pair: number; sum: number }>(
    'select id / 2 as pair, sum(balance)::int as sum from account group by 1',
  );
  for (const { pair, sum } of sums) if (sum !== 100) problems.push(`pair ${pair} has the sum ${sum}`);
  const counters = await database.query<{ id: number; value: number }>('select id, value from counter');
  for (const { number, counters: writes } of writers) {
    const value = counters.find(({ id }) => id === number)?.value ?? Number.NaN;
    const least = writes.filter(({ answered }) => answered < snapshot).length;
    const most = writes.filter(({ sent }) => sent <= snapshot).length;
    if (!(value >= least && value <= most))
      problems.push(`counter ${number} is ${value}: at the moment of the backup it was ${least} to ${most}`);
  }
  const history = await database.query<{ missing: number }>(
    'select count(*)::int as missing from platform_revisions r where not exists (select from platform_activity a where a.id = r.activity)',
  );
  if (history[0]?.missing !== 0) problems.push(`${history[0]?.missing} revisions have no activity`);
  return { problems, files: rows.length, rows: sums.length * 2 + counters.length };
}

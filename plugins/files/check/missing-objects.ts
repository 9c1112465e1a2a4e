import type { Db } from '../../database/contract.ts';
import type { StorageLocation } from '../../storage/contract.ts';

const BATCH = 200;
const CONCURRENCY = 8;

interface ReferenceRow {
  readonly id: string;
  readonly name: string;
}

export interface FileWithMissingObject extends ReferenceRow {
  readonly title: string | null;
}

/** The number of objects that rows name in this location. */
export async function countReferencedStoredObjects(db: Db, location: string): Promise<number> {
  const { rows } = await db.query<{ count: number }>(
    db.sql`select count(distinct filename_disk)::int as count from ${db.read('platform_files')} where storage = $1`,
    [location],
  );
  return rows[0]?.count ?? 0;
}

/** Files whose object is missing. `onBatch` gets the number of rows that were checked. */
export async function* findFilesWithMissingObjects(
  db: Db,
  location: StorageLocation,
  onBatch: (rows: number) => void,
): AsyncGenerator<FileWithMissingObject> {
  let after = '00000000-0000-0000-0000-000000000000';
  for (;;) {
    const { rows } = await db.query<ReferenceRow>(
      db.sql`select id, filename_disk as name from ${db.read('platform_files')}
      where storage = $1 and filename_disk is not null and id > $2 order by id limit $3`,
      [location.name, after, BATCH],
    );
    const queue = [...rows];
    const absent: ReferenceRow[] = [];
    const checkQueue = async () => {
      for (let row = queue.shift(); row; row = queue.shift()) if (!(await location.stat(row.name))) absent.push(row);
    };
    await Promise.all(Array.from({ length: Math.min(CONCURRENCY, queue.length) }, checkQueue));
    onBatch(rows.length);
    // A file may have been deleted or replaced during the check.
    if (absent.length > 0) yield* await confirmMissing(db, location, absent);
    const last = rows.at(-1);
    if (!last || rows.length < BATCH) return;
    after = last.id;
  }
}

async function confirmMissing(
  db: Db,
  location: StorageLocation,
  rows: readonly ReferenceRow[],
): Promise<readonly FileWithMissingObject[]> {
  const answer = await db.query<FileWithMissingObject>(
    db.sql`select id, filename_disk as name, title from ${db.read('platform_files')} where storage = $1 and filename_disk = any($2::text[]) order by id`,
    [location.name, rows.map(({ name }) => name)],
  );
  return answer.rows;
}

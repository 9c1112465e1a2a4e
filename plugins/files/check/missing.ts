import type { Db } from '../../database/contract.ts';
import type { Location } from '../../storage/contract.ts';

const BATCH = 200;
const AT_ONCE = 8;

interface Row {
  readonly id: string;
  readonly name: string;
}

export interface Missing extends Row {
  readonly title: string | null;
}

/** How many objects rows speak of in this location. */
export async function countNamed(db: Db, location: string): Promise<number> {
  const { rows } = await db.query<{ count: number }>(
    db.sql`select count(distinct filename_disk)::int as count from ${db.read('platform_files')} where storage = $1`,
    [location],
  );
  return rows[0]?.count ?? 0;
}

/** Files whose bytes are not there, told one after the other. */
export async function* missingBytes(
  db: Db,
  location: Location,
  looked: (rows: number) => void,
): AsyncGenerator<Missing> {
  let after = '00000000-0000-0000-0000-000000000000';
  for (;;) {
    const { rows } = await db.query<Row>(
      db.sql`select id, filename_disk as name from ${db.read('platform_files')}
      where storage = $1 and filename_disk is not null and id > $2 order by id limit $3`,
      [location.name, after, BATCH],
    );
    const left = [...rows];
    const absent: Row[] = [];
    const look = async () => {
      for (let row = left.shift(); row; row = left.shift()) if (!(await location.stat(row.name))) absent.push(row);
    };
    await Promise.all(Array.from({ length: Math.min(AT_ONCE, left.length) }, look));
    looked(rows.length);
    // A file may have been deleted or replaced while its object was looked for.
    if (absent.length > 0) yield* await still(db, location, absent);
    const last = rows.at(-1);
    if (!last || rows.length < BATCH) return;
    after = last.id;
  }
}

async function still(db: Db, location: Location, rows: readonly Row[]): Promise<readonly Missing[]> {
  const answer = await db.query<Missing>(
    db.sql`select id, filename_disk as name, title from ${db.read('platform_files')} where storage = $1 and filename_disk = any($2::text[]) order by id`,
    [location.name, rows.map(({ name }) => name)],
  );
  return answer.rows;
}

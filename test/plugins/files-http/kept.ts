import type { FreshDatabase } from '../../support/database.ts';
import { filesIn } from '../../support/files-in.ts';

/** Everything a service keeps of files: rows, entries of loose objects, and what lies in the folder of its storage. */
export interface Kept {
  readonly rows: readonly string[];
  readonly loose: number;
  readonly objects: readonly string[];
}

export async function keptBy(database: FreshDatabase, folder: string): Promise<Kept> {
  const rows = await database.query<{ name: string }>(
    'select filename_disk as name from platform_files where filename_disk is not null order by 1',
  );
  const loose = await database.query('select 1 from platform_orphaned_objects');
  return { rows: rows.map(({ name }) => name), loose: loose.length, objects: await objectsIn(folder) };
}

/** Waits for what is put in order after a client has gone: nobody is told when that is done. */
export async function settled(database: FreshDatabase, folder: string): Promise<Kept> {
  const deadline = Date.now() + 30_000;
  for (;;) {
    const kept = await keptBy(database, folder);
    if (isInOrder(kept) || Date.now() > deadline) return kept;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

export const isInOrder = ({ rows, loose, objects }: Kept): boolean =>
  loose === 0 && rows.join() === objects.map((path) => path.split('/').at(-1)).join();

async function objectsIn(folder: string): Promise<readonly string[]> {
  return (await filesIn(folder)).toSorted((a, b) =>
    (a.split('/').at(-1) as string) < (b.split('/').at(-1) as string) ? -1 : 1,
  );
}

import type { FreshDatabase } from '../../support/database.ts';
import { filesIn } from '../../support/files-in.ts';

/** All that a service stores of files: object names in rows, number of orphaned objects, and objects in the storage folder. */
export interface StoredFilesState {
  readonly rows: readonly string[];
  readonly orphanEntries: number;
  readonly objects: readonly string[];
}

export async function readStoredFilesState(database: FreshDatabase, folder: string): Promise<StoredFilesState> {
  const rows = await database.query<{ name: string }>(
    'select filename_disk as name from platform_files where filename_disk is not null order by 1',
  );
  const entries = await database.query('select 1 from platform_orphaned_objects');
  return { rows: rows.map(({ name }) => name), orphanEntries: entries.length, objects: await objectsIn(folder) };
}

/** Polls until rows and objects match, since the clean-up after a disconnected client sends no notification. */
export async function waitUntilFilesConsistent(database: FreshDatabase, folder: string): Promise<StoredFilesState> {
  const deadline = Date.now() + 30_000;
  for (;;) {
    const kept = await readStoredFilesState(database, folder);
    if (areStoredFilesConsistent(kept) || Date.now() > deadline) return kept;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

export const areStoredFilesConsistent = ({ rows, orphanEntries, objects }: StoredFilesState): boolean =>
  orphanEntries === 0 && rows.join() === objects.map((path) => path.split('/').at(-1)).join();

async function objectsIn(folder: string): Promise<readonly string[]> {
  return (await filesIn(folder)).toSorted((a, b) =>
    (a.split('/').at(-1) as string) < (b.split('/').at(-1) as string) ? -1 : 1,
  );
}

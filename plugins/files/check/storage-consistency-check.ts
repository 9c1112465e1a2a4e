import type { Db } from '../../database/contract.ts';
import type { StorageLocation, StorageObjectStat, StorageService } from '../../storage/contract.ts';
import { classifyObjects, reclassifyStoredObject } from './classify-objects.ts';
import { countReferencedStoredObjects, findFilesWithMissingObjects } from './missing-objects.ts';

/**
 * Minimum age of a stray object in milliseconds: a younger object may belong to a process that has just lost its connection to
 * the database.
 */
const GRACE_PERIOD = 3_600_000;
const PROGRESS_EVERY = 5000;

export interface FileCheckDeps {
  readonly db: Db;
  readonly storage: StorageService;
  /** Prints a line of the report. */
  readonly report: (line: string) => void;
  /** Prints a line about the progress. */
  readonly progress: (line: string) => void;
}

export interface FileCheckTotals {
  /** Files without bytes, or with another length than their row says. */
  brokenFiles: number;
  /** Objects that belong to no file, their bytes, and how many were removed. */
  strays: number;
  strayBytes: number;
  removed: number;
}

/** Compares rows with objects, both ways. Rows never change: a missing object may be in a backup. */
export async function checkFilesAgainstStorage(
  deps: FileCheckDeps,
  options: { readonly repair: boolean },
): Promise<FileCheckTotals> {
  const totals: FileCheckTotals = { brokenFiles: 0, strays: 0, strayBytes: 0, removed: 0 };
  for (const name of deps.storage.locations) await checkLocation(deps, deps.storage.at(name), options.repair, totals);
  const { rows } = await deps.db.query<{ storage: string; count: number }>(
    deps.db.sql`select storage, count(*)::int as count from ${deps.db.read('platform_files')}
    where filename_disk is not null and storage <> all($1::text[]) group by storage order by storage`,
    [deps.storage.locations],
  );
  for (const { storage, count } of rows) {
    totals.brokenFiles += count;
    deps.report(`${storage}: this location is not configured, and ${count} files have their bytes there`);
  }
  return totals;
}

async function checkLocation(
  deps: FileCheckDeps,
  location: StorageLocation,
  repair: boolean,
  totals: FileCheckTotals,
): Promise<void> {
  const { db, report } = deps;
  const reportHere = (line: string) => report(`${location.name}: ${line}`);
  const counts = { file: 0, variant: 0, orphan: 0, stray: 0, strayVariant: 0, foreign: 0 };
  const referencedCount = await countReferencedStoredObjects(db, location.name);
  let seen = 0;
  const reportProgress = createProgressReport(deps, location.name);
  for await (const { object, kind, expected } of classifyObjects(db, location)) {
    counts[kind]++;
    reportProgress(++seen, 'objects');
    if (expected !== undefined) {
      totals.brokenFiles++;
      reportHere(`${object.name} has ${object.size} bytes, its row says ${expected}`);
    }
    if (kind !== 'stray' && kind !== 'strayVariant') continue;
    if (Date.now() - object.modified.getTime() < GRACE_PERIOD) continue;
    totals.strays++;
    totals.strayBytes += object.size;
    const isRemoved = repair && (await removeIfStray(db, location, object));
    if (isRemoved) totals.removed++;
    const description = kind === 'stray' ? 'belongs to no file' : 'is a variant of an object that is gone';
    reportHere(`${object.name} ${description}: ${object.size} bytes${isRemoved ? ', removed' : ''}`);
  }
  // If the listing had every name, no row needs a check of its own.
  if (counts.file < referencedCount) {
    let rows = 0;
    const countRows = (count: number) => {
      rows += count;
      reportProgress(rows, 'files');
    };
    for await (const { id, name, title } of findFilesWithMissingObjects(db, location, countRows)) {
      totals.brokenFiles++;
      reportHere(`${name} is missing: the bytes of file ${id} (${title ?? 'without title'})`);
    }
  }
  reportHere(
    `${counts.file} objects of files, ${counts.variant} variants, ${counts.orphan} orphaned (the service removes them), ${counts.foreign} foreign`,
  );
}

/** Removes the object if a second look at the database still says that it is a stray. */
async function removeIfStray(
  db: FileCheckDeps['db'],
  location: StorageLocation,
  { name }: StorageObjectStat,
): Promise<boolean> {
  const again = await reclassifyStoredObject(db, location, name);
  if (again?.kind !== 'stray' && again?.kind !== 'strayVariant') return false;
  await location.remove(name);
  return true;
}

function createProgressReport({ progress }: FileCheckDeps, location: string): (count: number, what: string) => void {
  let last = Date.now();
  return (count, what) => {
    if (Date.now() - last < PROGRESS_EVERY) return;
    last = Date.now();
    progress(`${location}: ${count} ${what} so far`);
  };
}

import type { Db } from '../../database/contract.ts';
import type { Location, Storage, StoredObject } from '../../storage/contract.ts';
import { countNamed, missingBytes } from './missing.ts';
import { judgeAgain, judgedObjects } from './objects.ts';

/** Younger ones may be of a process whose connection to the database was lost a moment ago. */
const HOUR = 3_600_000;
const PROGRESS_EVERY = 5000;

export interface CheckDeps {
  readonly db: Db;
  readonly storage: Storage;
  /** A line of the report. */
  readonly tell: (line: string) => void;
  /** A line that says how far it is. */
  readonly progress: (line: string) => void;
}

export interface Totals {
  /** Files without bytes, or with others than their row says. */
  broken: number;
  /** Objects that belong to nothing, and their bytes; removed where that was asked for. */
  strays: number;
  strayBytes: number;
  removed: number;
}

/** Compares rows with bytes, both ways. Rows are never changed: what is missing may be in a backup. */
export async function checkFiles(deps: CheckDeps, options: { readonly repair: boolean }): Promise<Totals> {
  const totals: Totals = { broken: 0, strays: 0, strayBytes: 0, removed: 0 };
  for (const name of deps.storage.locations) await checkLocation(deps, deps.storage.at(name), options.repair, totals);
  const { rows } = await deps.db.query<{ storage: string; count: number }>(
    deps.db.sql`select storage, count(*)::int as count from ${deps.db.read('platform_files')}
    where filename_disk is not null and storage <> all($1::text[]) group by storage order by storage`,
    [deps.storage.locations],
  );
  for (const { storage, count } of rows) {
    totals.broken += count;
    deps.tell(`${storage}: no such location is set, and ${count} files have their bytes there`);
  }
  return totals;
}

async function checkLocation(deps: CheckDeps, location: Location, repair: boolean, totals: Totals): Promise<void> {
  const { db, tell } = deps;
  const at = (line: string) => tell(`${location.name}: ${line}`);
  const counts = { file: 0, variant: 0, loose: 0, stray: 0, orphan: 0, foreign: 0 };
  const named = await countNamed(db, location.name);
  let seen = 0;
  const said = progressOf(deps, location.name);
  for await (const { object, kind, expected } of judgedObjects(db, location)) {
    counts[kind]++;
    said(++seen, 'objects');
    if (expected !== undefined) {
      totals.broken++;
      at(`${object.name} has ${object.size} bytes, its file speaks of ${expected}`);
    }
    if (kind !== 'stray' && kind !== 'orphan') continue;
    if (Date.now() - object.modified.getTime() < HOUR) continue;
    totals.strays++;
    totals.strayBytes += object.size;
    const isRemoved = repair && (await removed(db, location, object));
    if (isRemoved) totals.removed++;
    const what = kind === 'stray' ? 'belongs to no file' : 'was made of an object that is gone';
    at(`${object.name} ${what}: ${object.size} bytes${isRemoved ? ', removed' : ''}`);
  }
  // Where every name was met there is nothing to look for one by one.
  if (counts.file < named) {
    let rows = 0;
    const more = (count: number) => {
      rows += count;
      said(rows, 'files');
    };
    for await (const { id, name, title } of missingBytes(db, location, more)) {
      totals.broken++;
      at(`${name} is not there: the bytes of file ${id} (${title ?? 'without title'})`);
    }
  }
  at(
    `${counts.file} objects of files, ${counts.variant} made of them, ${counts.loose} to be removed by the service, ${counts.foreign} of others`,
  );
}

/** Only if it is still what it was taken for. */
async function removed(db: CheckDeps['db'], location: Location, { name }: StoredObject): Promise<boolean> {
  const again = await judgeAgain(db, location, name);
  if (again?.kind !== 'stray' && again?.kind !== 'orphan') return false;
  await location.remove(name);
  return true;
}

function progressOf({ progress }: CheckDeps, location: string): (count: number, what: string) => void {
  let last = Date.now();
  return (count, what) => {
    if (Date.now() - last < PROGRESS_EVERY) return;
    last = Date.now();
    progress(`${location}: ${count} ${what} so far`);
  };
}

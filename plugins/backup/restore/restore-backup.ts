import { createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { type BackupManifest, ENTRIES } from '../archive/format.ts';
import { readEntries, readManifest } from '../archive/read-archive.ts';
import { verifyArchive } from '../archive/verify-archive.ts';
import type { BackupDeps } from '../deps.ts';
import { BackupError } from '../failures.ts';
import { findPostgresPrograms } from '../postgres/find-programs.ts';
import type { Progress } from '../progress.ts';
import { assertRestorable, type TargetOptions } from './empty-target.ts';
import { restoreDatabase } from './restore-database.ts';
import { createObjectRestorer } from './restore-objects.ts';

export interface RestoreOptions extends TargetOptions {
  readonly file: string;
}

export interface RestoreSummary {
  readonly snapshot: string;
  readonly service: string;
  readonly objects: number;
  /** What the backup found to be missing or damaged, one line each. */
  readonly damaged: readonly string[];
  /** Event triggers that only a superuser may create. */
  readonly leftOut: readonly string[];
  /** Roles that the server lacks: grants and revokes were left out because of them. */
  readonly missingRoles: readonly string[];
}

/** Characters of the list of missing objects that are kept. */
const MAX_MISSING = 1_000_000;

/**
 * Restores an archive into an empty database and empty storage locations. It is read twice: all checksums are compared before
 * anything is written. The database is restored last and in one transaction, so a restore that fails leaves it empty.
 * @throws BackupError, BootFailure
 */
export async function restoreBackup(
  deps: BackupDeps,
  { file, ...options }: RestoreOptions,
  progress: Progress,
  signal: AbortSignal,
): Promise<RestoreSummary> {
  const path = resolve(file);
  const manifest = await readManifest(path);
  await deps.maintenance.open();
  const programs = await findPostgresPrograms(deps.programsPath, programVersionOf(deps, manifest));
  const target = await assertRestorable(deps, manifest, options);
  const folder = await mkdtemp(join(dirname(path), `.${basename(path)}-`)).catch((error) => {
    const { code } = error as NodeJS.ErrnoException;
    throw new BackupError(
      `no temporary file can be written beside ${path} (${code})`,
      'put the archive into a folder that this user may write to, on a disk with room for the dump of the database',
    );
  });
  try {
    progress.step('checksums of the archive');
    await verifyArchive(path, join(folder, 'checksums'), progress);
    signal.throwIfAborted();
    progress.step('files');
    const dump = join(folder, 'dump');
    const { objects, missing } = await unpack(deps, path, { dump, skips: options.skips, progress, signal });
    progress.step('database');
    const list = join(folder, 'list');
    const leftOut = await restoreDatabase(deps, { ...options, programs, dump, list, target, signal });
    const damaged = missing.split('\n').filter(Boolean);
    return {
      snapshot: manifest.snapshot,
      service: manifest.service,
      objects,
      damaged,
      leftOut,
      missingRoles: target.missingRoles,
    };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** pg_restore has to know the format of the dump, which a newer pg_dump may have written. */
function programVersionOf(deps: BackupDeps, { database }: BackupManifest): { major: number; what: string } {
  const server = Math.floor(deps.serverVersion() / 10_000);
  const dumped = Number.parseInt(database.program, 10);
  return dumped > server
    ? { major: dumped, what: 'the pg_dump that wrote the archive' }
    : { major: server, what: `the database ${deps.maintenance.label()}` };
}

interface UnpackOptions {
  readonly dump: string;
  readonly skips: readonly string[];
  readonly progress: Progress;
  readonly signal: AbortSignal;
}

async function unpack(
  { storage }: BackupDeps,
  path: string,
  { dump, skips, progress, signal }: UnpackOptions,
): Promise<{ readonly objects: number; readonly missing: string }> {
  const restorer = createObjectRestorer(storage, skips, progress);
  let missing = '';
  for await (const entry of readEntries(path)) {
    signal.throwIfAborted();
    if (entry.name === ENTRIES.dump)
      await pipeline(entry.content, createWriteStream(dump, { flags: 'wx', mode: 0o600 }));
    else if (entry.name === ENTRIES.missing)
      for await (const part of entry.content) missing = `${missing}${part}`.slice(0, MAX_MISSING);
    else await restorer.restore(entry);
  }
  return { objects: await restorer.finish(), missing };
}

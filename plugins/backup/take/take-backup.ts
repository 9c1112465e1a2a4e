import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { VERSION } from '#kernel';
import { REMOVAL_HOLD_LOCK } from '../../storage/contract.ts';
import { type BackupManifest, createManifest, ENTRIES } from '../archive/format.ts';
import { type ArchiveWriter, createArchiveWriter } from '../archive/write-archive.ts';
import type { BackupDeps } from '../deps.ts';
import { BackupError } from '../failures.ts';
import { findPostgresPrograms, type PostgresPrograms } from '../postgres/find-programs.ts';
import { runPostgresProgram } from '../postgres/run-program.ts';
import type { Progress } from '../progress.ts';
import { type CopiedObjects, copyObjects } from './copy-objects.ts';
import { type DatabaseSnapshot, openSnapshot } from './snapshot.ts';
import { type ArchiveTarget, openArchiveTarget } from './target-file.ts';

export interface BackupOptions {
  /** The archive; `-` is standard output. */
  readonly file: string;
  readonly overwrites: boolean;
  /** Locations whose objects are left out. */
  readonly skips: readonly string[];
}

export interface BackupSummary extends CopiedObjects {
  /** The moment that the archive shows (ISO 8601). */
  readonly snapshot: string;
  readonly dumpBytes: number;
  readonly skipped: readonly string[];
}

/** Milliseconds between two looks at the size of the dump. */
const LOOK_INTERVAL = 2000;

/**
 * Saves the database and its files as they were at one moment, while the service runs. A transaction holds a snapshot, which pg_dump
 * uses, too; and the objects to copy are those that rows of this snapshot name. Objects never change under their name (ADR 20), and a
 * lock keeps all processes from removing any until the copy is done.
 * @throws BackupError, BootFailure
 */
export async function takeBackup(
  deps: BackupDeps,
  { file, overwrites, skips }: BackupOptions,
  progress: Progress,
  signal: AbortSignal,
): Promise<BackupSummary> {
  const { maintenance, storage, lock } = deps;
  await maintenance.open();
  const { recorded } = await maintenance.migrations();
  if (recorded.length === 0)
    throw new BackupError(`there is nothing of the service in ${maintenance.label()}`, 'correct the settings DB_*');
  const programs = await findPostgresPrograms(deps.programsPath, {
    major: Math.floor(deps.serverVersion() / 10_000),
    what: `the database ${maintenance.label()}`,
  });
  const locations = storage.locations.filter((name) => !skips.includes(name));
  await storage.open(locations);
  const target = await openArchiveTarget(file, overwrites);
  try {
    if (await lock.isHeld(REMOVAL_HOLD_LOCK)) progress.step('another backup is running: waiting for it');
    const summary = await lock.run(REMOVAL_HOLD_LOCK, async () => {
      signal.throwIfAborted();
      const snapshot = await openSnapshot(deps.connections, deps.schemas[0] as string, deps.objects());
      try {
        const manifest = await describeSnapshot(deps, snapshot, programs, locations, skips);
        return await writeBackup(deps, { snapshot, manifest, programs, target, progress, signal });
      } finally {
        await snapshot.end();
      }
    });
    await target.complete();
    return summary;
  } finally {
    await target.remove();
  }
}

/** @throws BackupError where files are in a location that this configuration does not have. */
async function describeSnapshot(
  { schemas, serverVersion, maintenance }: BackupDeps,
  snapshot: DatabaseSnapshot,
  { version: program }: PostgresPrograms,
  configured: readonly string[],
  skips: readonly string[],
): Promise<BackupManifest> {
  const used = await snapshot.locations();
  const unknown = used.find(({ name }) => !configured.includes(name) && !skips.includes(name));
  if (unknown)
    throw new BackupError(
      `${unknown.objects} files are in the storage location ${unknown.name}, which is not configured`,
      `add it to STORAGE_LOCATIONS, or leave it out by --skip ${unknown.name}`,
    );
  const { recorded: migrations } = await maintenance.migrations();
  return createManifest({
    service: VERSION,
    snapshot: snapshot.at,
    database: { version: serverVersion(), program, schemas, roles: snapshot.roles, migrations },
    locations: used.filter(({ name }) => configured.includes(name)),
    skipped: used.filter(({ name }) => skips.includes(name)).map(({ name }) => name),
  });
}

interface WriteOptions {
  readonly snapshot: DatabaseSnapshot;
  readonly manifest: BackupManifest;
  readonly programs: PostgresPrograms;
  readonly target: ArchiveTarget;
  readonly progress: Progress;
  readonly signal: AbortSignal;
}

async function writeBackup(deps: BackupDeps, options: WriteOptions): Promise<BackupSummary> {
  const { snapshot, manifest, target, progress, signal } = options;
  const dump = join(target.folder, 'dump');
  await dumpDatabase(deps, dump, options);
  const writer: ArchiveWriter = await createArchiveWriter(target.stream, join(target.folder, 'checksums'));
  try {
    await writer.addText(ENTRIES.manifest, `${JSON.stringify(manifest, null, 2)}\n`);
    await writer.addFile(ENTRIES.dump, dump);
    const total = manifest.locations.reduce((sum, { objects }) => sum + objects, 0);
    progress.step(`files: ${total} objects`);
    const names = manifest.locations.map(({ name }) => name);
    const copied = await copyObjects(snapshot.objects(names), { storage: deps.storage, writer, progress, signal });
    // Without the connection another process may have removed objects, which then only seem to have been missing before.
    if (!snapshot.isOpen() || !(await deps.lock.isHeld(REMOVAL_HOLD_LOCK)))
      throw new BackupError('the database connection that holds snapshot and objects was lost', 'repeat the backup');
    if (copied.damaged.length > 0) await writer.addText(ENTRIES.missing, `${copied.damaged.join('\n')}\n`);
    await writer.finish();
    const dumpBytes = (await stat(dump)).size;
    return { ...copied, snapshot: snapshot.at, dumpBytes, skipped: manifest.skipped };
  } catch (error) {
    await writer.close();
    throw error;
  }
}

async function dumpDatabase(deps: BackupDeps, file: string, options: WriteOptions): Promise<void> {
  const { snapshot, programs, progress, signal } = options;
  progress.step(`database: pg_dump ${programs.version}`);
  const look = setInterval(
    async () => progress.setBytes((await stat(file).catch(() => ({ size: 0 }))).size),
    LOOK_INTERVAL,
  );
  try {
    await runPostgresProgram({
      program: programs.dump,
      args: ['--format=custom', '--no-password', `--snapshot=${snapshot.id}`, `--file=${file}`],
      environment: deps.maintenance.programEnvironment(),
      signal,
    });
  } finally {
    clearInterval(look);
  }
}

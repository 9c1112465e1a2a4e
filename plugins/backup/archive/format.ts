import type { RecordedMigration } from '../../database/contract.ts';
import { BackupError } from '../failures.ts';

/**
 * An archive is a tar file, so that it can be read without this service. Its entries, in this order: the manifest, the dump of the
 * database in the custom format of pg_dump, the objects of the storage locations, a list of objects that were missing, and the
 * checksums of all of these, as `sha256sum --check` reads them. An archive without the last entry is incomplete.
 */
export const ENTRIES = {
  manifest: 'manifest.json',
  dump: 'database.dump',
  files: 'files/',
  missing: 'missing.txt',
  checksums: 'SHA256SUMS',
} as const;

const FORMAT = 1;

/** What a location has in an archive. Sizes in bytes, as the rows of the snapshot say. */
export interface ArchivedLocation {
  readonly name: string;
  readonly objects: number;
  readonly bytes: number;
}

/** The first entry of an archive: what it holds, and of what moment. */
export interface BackupManifest {
  readonly format: typeof FORMAT;
  /** Version of the service that made the archive. */
  readonly service: string;
  /** The moment of the snapshot, by the clock of the database (ISO 8601). */
  readonly snapshot: string;
  readonly database: {
    /** `server_version_num` of PostgreSQL. */
    readonly version: number;
    /** Version of pg_dump, such as `18.1`. */
    readonly program: string;
    readonly schemas: readonly string[];
    /** Roles that own something or have privileges. */
    readonly roles: readonly string[];
    readonly migrations: readonly RecordedMigration[];
  };
  readonly locations: readonly ArchivedLocation[];
  /** Locations of files whose objects are left out. */
  readonly skipped: readonly string[];
}

export const createManifest = (content: Omit<BackupManifest, 'format'>): BackupManifest => ({
  format: FORMAT,
  ...content,
});

/** @throws BackupError for a text that is no manifest, or one of a later format. */
export function parseManifest(text: string): BackupManifest {
  let manifest: Partial<BackupManifest> | null;
  try {
    manifest = JSON.parse(text) as Partial<BackupManifest> | null;
  } catch {
    throw createNoBackupError();
  }
  if (typeof manifest?.format !== 'number' || !manifest.database || !Array.isArray(manifest.locations))
    throw createNoBackupError();
  if (manifest.format !== FORMAT)
    throw new BackupError(
      `the archive has the format ${manifest.format}, and this version reads ${FORMAT}`,
      `restore it with version ${manifest.service} of the service, which made it`,
    );
  return manifest as BackupManifest;
}

export const createNoBackupError = (): BackupError =>
  new BackupError('the file is no backup of this service', 'name a file that the command backup has written');

/** The name of an object in the archive. */
export const objectEntryName = (location: string, name: string): string => `${ENTRIES.files}${location}/${name}`;

/** The location and the name of an object's entry; undefined for another entry. */
export function parseObjectEntryName(entry: string): { location: string; name: string } | undefined {
  const found = /^files\/([A-Za-z0-9_-]{1,64})\/([A-Za-z0-9_.-]{1,255})$/.exec(entry);
  return found ? { location: found[1] as string, name: found[2] as string } : undefined;
}

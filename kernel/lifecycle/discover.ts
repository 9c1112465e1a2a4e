import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type PluginPackage, validatePackage } from '../manifest/validate.ts';
import { withoutDoubles } from './doubles.ts';
import { BootFailure } from './failure.ts';

export interface Discovered extends PluginPackage {
  readonly folder: string;
  /** Core plugins stop the boot when they fail; strangers are left out. */
  readonly core: boolean;
}

export interface Composition {
  /** Folders of the product's own plugins. */
  readonly plugins: readonly URL[];
  /** A folder whose sub-folders are packages of others; a missing one is an empty one. */
  readonly local?: string;
}

export interface Discovery {
  readonly found: readonly Discovered[];
  readonly refused: BootFailure[];
}

/** Reads and validates every manifest. No code of any plugin has run when this returns. */
export async function discover({ plugins, local }: Composition): Promise<Discovery> {
  const core = await Promise.all(plugins.map((url) => readPackage(fileURLToPath(url), true)));
  const found: Discovered[] = core;
  const refused: BootFailure[] = [];
  for (const folder of local ? await subfolders(local) : []) {
    if (!(await isPlugin(folder))) continue;
    try {
      found.push(await readPackage(folder, false));
    } catch (error) {
      refused.push(BootFailure.from(folder, 'discover', error));
    }
  }
  return { found: withoutDoubles(found, refused), refused };
}

/** Packages of other types, and broken ones, are for a plugin that knows what to make of them. */
async function isPlugin(folder: string): Promise<boolean> {
  try {
    return JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'))['service:extension'].type === 'plugin';
  } catch {
    return false;
  }
}

async function readPackage(folder: string, core: boolean): Promise<Discovered> {
  const path = join(folder, 'package.json');
  let parsed: unknown;
  try {
    parsed = JSON.parse(await readFile(path, 'utf8'));
  } catch (error) {
    const reason =
      error instanceof SyntaxError ? `is not JSON: ${error.message}` : `cannot be read: ${(error as Error).message}`;
    throw new BootFailure(folder, 'discover', `its package.json ${reason}`, { remedy: `correct ${path}` });
  }
  return { ...validatePackage(parsed, folder), folder, core };
}

async function subfolders(path: string): Promise<readonly string[]> {
  const entries = await readdir(path, { withFileTypes: true }).catch(() => []);
  return entries
    .filter((entry) => entry.isDirectory() || entry.isSymbolicLink())
    .map((entry) => join(path, entry.name))
    .sort();
}

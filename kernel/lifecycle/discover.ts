import { constants } from 'node:fs';
import { open, readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
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
      const one = await readPackage(folder, false);
      if ([basename(folder), one.name].some((name) => EXTENSION.test(name))) throw notAPlugin(one.name);
      found.push(one);
    } catch (error) {
      refused.push(BootFailure.from(folder, 'discover', error));
    }
  }
  return { found: withoutDoubles(found, refused), refused };
}

/** Names of packages that are asked what they want and may be confined: an upgrade does not make plugins of them. */
const EXTENSION = /^(?:@[^/]+\/)?service-extension-.|^@service\/extension-./;

const notAPlugin = (name: string) =>
  new BootFailure(name, 'discover', 'its name is that of an extension, and it says that it is a plugin', {
    remedy: 'rename the package and its folder, if you trust it like a part of the service',
  });

/** Packages of other types, and broken ones, are for a plugin that knows what to make of them. */
async function isPlugin(folder: string): Promise<boolean> {
  try {
    return JSON.parse(await readText(join(folder, 'package.json')))['service:extension'].type === 'plugin';
  } catch {
    return false;
  }
}

async function readPackage(folder: string, core: boolean): Promise<Discovered> {
  const path = join(folder, 'package.json');
  let parsed: unknown;
  try {
    parsed = JSON.parse(await readText(path));
  } catch (error) {
    const reason =
      error instanceof SyntaxError ? `is not JSON: ${error.message}` : `cannot be read: ${(error as Error).message}`;
    throw new BootFailure(folder, 'discover', `its package.json ${reason}`, { remedy: `correct ${path}` });
  }
  return { ...validatePackage(parsed, folder), folder, core };
}

/** Bytes of a package.json that are read at all. */
const LONGEST = 4 * 1024 * 1024;

/** What somebody put there may be no file: opening a pipe would wait for ever, and a device has no end. */
async function readText(path: string): Promise<string> {
  const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const about = await handle.stat();
    if (!about.isFile() || about.size > LONGEST) throw new Error('it is no file of a sensible size');
    return await handle.readFile('utf8');
  } finally {
    await handle.close();
  }
}

async function subfolders(path: string): Promise<readonly string[]> {
  const entries = await readdir(path, { withFileTypes: true }).catch(() => []);
  return entries
    .filter((entry) => entry.isDirectory() || entry.isSymbolicLink())
    .map((entry) => join(path, entry.name))
    .sort();
}

import { constants } from 'node:fs';
import { open, readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { BootFailure } from '#kernel';
import { createPackageId } from '../discover/package-id.ts';

/** Bytes of a package.json that are read at all. */
const MAX_BYTES = 4 * 1024 * 1024;

/** Names of packages that are asked what they want and may be confined: an upgrade does not make plugins of them. */
const EXTENSION_NAME = /^(?:@[^/]+\/)?service-extension-.|^@service\/extension-./;

/** Sub-folders with a package that says it is a plugin. Other types, and broken packages, are extensions' matter. */
export async function pluginFolders(path: string | undefined): Promise<readonly string[]> {
  if (path === undefined) return [];
  const entries = await readdir(path, { withFileTypes: true }).catch(() => []);
  const folders = entries
    .filter((entry) => entry.isDirectory() || entry.isSymbolicLink())
    .map((entry) => join(path, entry.name))
    .sort();
  const found: string[] = [];
  for (const folder of folders) if (await isPlugin(folder)) found.push(folder);
  return found;
}

/** The id of what lies in a folder of EXTENSIONS_PATH: the same as that of an extension there. */
export const createPluginId = (folder: string): string => createPackageId(`local:${basename(folder)}`);

/** @throws BootFailure for a plugin that has the name of an extension. */
export function assertPluginName(folder: string, name: string): void {
  if (![basename(folder), name].some((one) => EXTENSION_NAME.test(one))) return;
  throw new BootFailure(name, 'discover', 'its name is that of an extension, and it says that it is a plugin', {
    remedy: 'rename the package and its folder, if you trust it like a part of the service',
  });
}

async function isPlugin(folder: string): Promise<boolean> {
  try {
    return JSON.parse(await readText(join(folder, 'package.json')))['service:extension'].type === 'plugin';
  } catch {
    return false;
  }
}

/** What stands there may be no file: opening a pipe would wait for ever, and a device has no end. */
async function readText(path: string): Promise<string> {
  const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const about = await handle.stat();
    if (!about.isFile() || about.size > MAX_BYTES) throw new Error('it is no file of a sensible size');
    return await handle.readFile('utf8');
  } finally {
    await handle.close();
  }
}

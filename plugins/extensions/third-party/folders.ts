import { constants } from 'node:fs';
import { open, readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { BootFailure } from '#kernel';
import { hashPackageLocationToId } from '../discover/package-id.ts';

/** Limit for a package.json in bytes. */
const MAX_BYTES = 4 * 1024 * 1024;

/** Names of extensions, which may be confined: an upgrade must not turn one into a plugin with full authority. */
const EXTENSION_NAME = /^(?:@[^/]+\/)?service-extension-.|^@service\/extension-./;

/**
 * Sub-folders whose package declares a plugin, and those of `others` that do. Other types and broken packages are handled as
 * extensions.
 */
export async function findThirdPartyPluginFolders(
  path: string | undefined,
  others: readonly string[] = [],
): Promise<readonly string[]> {
  if (path === undefined) return [];
  const entries = await readdir(path, { withFileTypes: true }).catch(() => []);
  const folders = entries
    .filter((entry) => entry.isDirectory() || entry.isSymbolicLink())
    .map((entry) => join(path, entry.name))
    .sort();
  const found: string[] = [];
  for (const folder of [...folders, ...others]) if (await isPlugin(folder)) found.push(folder);
  return found;
}

/** The id of a plugin in a folder of EXTENSIONS_PATH: the same as that of an extension in this folder. */
export const hashPluginFolderToId = (folder: string): string => hashPackageLocationToId(`local:${basename(folder)}`);

/** @throws BootFailure for a plugin that has the name of an extension. */
export function assertNotExtensionName(folder: string, name: string): void {
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

/** Refuses what is not a regular file: opening a pipe would wait for ever, and a device has no end. */
async function readText(path: string): Promise<string> {
  const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const about = await handle.stat();
    if (!about.isFile() || about.size > MAX_BYTES) throw new Error('it is not a regular file of at most 4 MiB');
    return await handle.readFile('utf8');
  } finally {
    await handle.close();
  }
}

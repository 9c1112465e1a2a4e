import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type PluginPackage, validatePluginPackageJson } from '../manifest/validate.ts';
import { BootFailure } from './boot-failure.ts';
import { assertNoPluginNameConflicts } from './plugin-order.ts';

/** A plugin whose manifest was read and checked. */
export interface PluginInfo extends PluginPackage {
  readonly folder: string;
  /** Core plugins stop the boot when they fail; third-party ones are left out. */
  readonly core: boolean;
}

export interface CorePluginFolders {
  /** Folders of core plugins. */
  readonly plugins: readonly URL[];
}

/** Reads and validates the manifests of core plugins. No code of any plugin has run when this returns. @throws BootFailure */
export async function discoverCorePlugins(plugins: readonly URL[]): Promise<readonly PluginInfo[]> {
  const found = await Promise.all(plugins.map((url) => readPluginManifest(fileURLToPath(url), true)));
  assertNoPluginNameConflicts(found);
  return found;
}

/** Reads and validates the manifest of the plugin in a folder. @throws BootFailure */
export async function readPluginManifest(folder: string, core: boolean): Promise<PluginInfo> {
  const path = join(folder, 'package.json');
  let parsed: unknown;
  try {
    parsed = JSON.parse(await readBoundedText(path));
  } catch (error) {
    const what = error instanceof SyntaxError ? 'is not JSON' : 'cannot be read';
    const reason = `its package.json ${what}: ${(error as Error).message}`;
    throw new BootFailure(folder, 'discover', reason, { remedy: `correct ${path}` });
  }
  return { ...validatePluginPackageJson(parsed, folder), folder, core };
}

/** Bytes of the largest package.json that is read. */
const MAX_SIZE = 4 * 1024 * 1024;

/** Reads a regular file of bounded size: a third-party folder may have a pipe, which blocks when opened, or an endless device. */
async function readBoundedText(path: string): Promise<string> {
  const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const about = await handle.stat();
    if (!about.isFile() || about.size > MAX_SIZE) throw new Error('it is no file of a sensible size');
    return await handle.readFile('utf8');
  } finally {
    await handle.close();
  }
}

import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { DiscoveredExtension, ExtensionType } from '../extension-types.ts';
import { EXTENSION_TYPE_BY_FOLDER } from '../manifest/extension-package-names.ts';
import { fingerprintFolder } from './fingerprint.ts';
import { hashPackageLocationToId } from './package-id.ts';

const ENDINGS = ['.cjs', '.mjs', '.js'] as const;

/**
 * Single files without a manifest: `EXTENSIONS_PATH/hooks/<name>/index.js`, for operations `app.js` and `api.js`. They
 * have full authority, because without a manifest they cannot declare the confined runtime.
 */
export async function findSingleFileExtensions(root: string): Promise<readonly DiscoveredExtension[]> {
  const found: DiscoveredExtension[] = [];
  for (const [folder, type] of Object.entries(EXTENSION_TYPE_BY_FOLDER)) {
    for (const name of await listSubfolders(join(root, folder))) {
      const path = join(root, folder, name);
      const revision = await fingerprintFolder(path);
      found.push({
        id: hashPackageLocationToId(`local:${folder}/${name}`),
        folder: path,
        name,
        local: true,
        type,
        files: await findFiles(path, type),
        revision,
      });
    }
  }
  return found;
}

async function listSubfolders(path: string): Promise<readonly string[]> {
  const names = await readdir(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  const folders: string[] = [];
  for (const name of names.sort()) {
    if (name.startsWith('.')) continue;
    const entry = await stat(join(path, name)).catch(() => undefined);
    if (entry?.isDirectory()) folders.push(name);
  }
  return folders;
}

async function findFiles(path: string, type: ExtensionType): Promise<DiscoveredExtension['files']> {
  if (type === 'operation') {
    const [app, api] = [await findFile(path, 'app'), await findFile(path, 'api')];
    return { ...(app ? { app } : {}), ...(api ? { api } : {}) };
  }
  const index = await findFile(path, 'index');
  if (index === undefined) return {};
  return type === 'hook' || type === 'endpoint' ? { api: index } : { app: index };
}

async function findFile(path: string, name: string): Promise<string | undefined> {
  for (const ending of ENDINGS) {
    const file = join(path, name + ending);
    if ((await stat(file).catch(() => undefined))?.isFile()) return file;
  }
  return undefined;
}

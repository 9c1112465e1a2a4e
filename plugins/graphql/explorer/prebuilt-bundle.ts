import { readFile } from 'node:fs/promises';
import type { ExplorerBundle } from './bundle.ts';

/** Where `npm run pack` puts the bundle. A checkout has no such folder. */
const FOLDER = new URL('./built/', import.meta.url);

/** `bundle.json`: the bundle with the names of its files, each of which is stored as `<name>.gz`. */
export type PrebuiltBundleIndex = Omit<ExplorerBundle, 'files'> & { readonly files: readonly string[] };

/**
 * Reads the bundle that the installed package brings along, which therefore needs neither the editor nor React.
 * Undefined in a checkout.
 */
export async function readPrebuiltExplorerBundle(): Promise<ExplorerBundle | undefined> {
  const text = await readFile(new URL('bundle.json', FOLDER), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
    return undefined;
  });
  if (text === undefined) return undefined;
  const { files, ...index } = JSON.parse(text) as PrebuiltBundleIndex;
  const contents = files.map(async (name) => [name, await readFile(new URL(`${name}.gz`, FOLDER))] as const);
  return { ...index, files: new Map(await Promise.all(contents)) };
}

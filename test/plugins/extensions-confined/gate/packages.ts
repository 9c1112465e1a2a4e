import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type DiscoveredExtension, type ExtensionManifest, LoadFailure } from '../../../../plugins/extensions/model.ts';

/** Packages in a folder of the test's own. */
export interface PackageFolder {
  readonly root: string;
  /** Writes files, by path below the root. Objects are written as JSON. */
  write(files: Readonly<Record<string, string | object>>): Promise<void>;
  remove(): Promise<void>;
}

export async function createPackageFolder(): Promise<PackageFolder> {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'tenon-gate-')));
  return {
    root,
    async write(files) {
      for (const [path, content] of Object.entries(files)) {
        await mkdir(dirname(join(root, path)), { recursive: true });
        await writeFile(join(root, path), typeof content === 'string' ? content : JSON.stringify(content));
      }
    },
    remove: () => rm(root, { recursive: true, force: true }),
  };
}

export const ENDPOINT: ExtensionManifest = {
  type: 'endpoint',
  host: '^1.0.0',
  path: 'dist/index.js',
  source: 'src/index.js',
  runtime: 'confined-server',
  capabilities: { endpoint: { access: 'public' } },
};

export const packageJson = (name: string, manifest: object, version = '1.0.0') => ({
  name,
  version,
  type: 'module',
  'service:extension': manifest,
});

export function createDiscovered(
  folder: string,
  name: string,
  manifest: ExtensionManifest,
  version = '1.0.0',
): DiscoveredExtension {
  const path = typeof manifest.path === 'string' ? manifest.path : manifest.path.api;
  return {
    id: `id of ${folder}`,
    folder,
    name,
    local: true,
    type: manifest.type,
    version,
    manifest,
    files: { api: join(folder, path) },
    revision: '1',
  };
}

/** The code of the LoadFailure that the work ends with. */
export async function catchLoadFailure(work: Promise<unknown>): Promise<LoadFailure> {
  try {
    await work;
  } catch (error) {
    if (error instanceof LoadFailure) return error;
    throw error;
  }
  throw new Error('it did not fail');
}

import { join } from 'node:path';
import type { DiscoveredExtension, ExtensionManifest } from '../../../../plugins/extensions/contract.ts';
import { LoadFailure } from '../../../../plugins/extensions/library.ts';

export const CONFINED_ENDPOINT_MANIFEST: ExtensionManifest = {
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

export function createDiscoveredExtension(
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

/** The LoadFailure that `work` rejects with. */
export async function catchLoadFailure(work: Promise<unknown>): Promise<LoadFailure> {
  try {
    await work;
  } catch (error) {
    if (error instanceof LoadFailure) return error;
    throw error;
  }
  throw new Error('it did not fail');
}

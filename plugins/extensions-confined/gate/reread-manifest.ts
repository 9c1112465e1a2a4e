import { isDeepStrictEqual } from 'node:util';
import type { DiscoveredExtension, ExtensionManifest, ManifestDeps } from '../../extensions/contract.ts';
import { LoadFailure, listServerBundleEntries, readManifest } from '../../extensions/library.ts';

/** Limit for a confined package's package.json in bytes. */
const MAX_BYTES = 256 * 1024;

/** A confined package whose manifest is the same as when it was discovered. */
export interface UnchangedConfinedPackage {
  readonly extension: DiscoveredExtension;
  readonly manifest: ExtensionManifest;
  readonly version: string;
  /** Absolute path of the built code. */
  readonly built: string;
}

/**
 * Reads the manifest again and compares it with the discovered one (conventions, "Load gate", 1), so that what loads is
 * what the administrator was shown.
 * @throws LoadFailure MANIFEST_INVALID or MANIFEST_TOO_LARGE.
 */
export async function rereadManifest(
  extension: DiscoveredExtension,
  deps: ManifestDeps,
): Promise<UnchangedConfinedPackage> {
  const { name, version, manifest } = await readManifest(extension.folder, deps, MAX_BYTES);
  const before = extension.manifest;
  const built = extension.files.api;
  if (!before || built === undefined || manifest.runtime !== 'confined-server') {
    throw createInvalidManifest('it is no longer meant to run confined');
  }
  if (name !== extension.name || version !== extension.version || !isDeepStrictEqual(manifest, before)) {
    throw createInvalidManifest(
      'it is not what was discovered: the file changed in between. Load the extensions again',
    );
  }
  if (manifest.type === 'hook' && !manifest.events)
    throw createInvalidManifest('a confined hook must declare its "events"');
  const seen = new Set<string>();
  for (const { type, name: entry, events } of listServerBundleEntries(manifest)) {
    if (seen.has(`${type}:${entry}`))
      throw createInvalidManifest(`two entries are called ${type} "${entry.slice(0, 80)}"`);
    seen.add(`${type}:${entry}`);
    if (type === 'hook' && !events)
      throw createInvalidManifest(`the hook "${entry.slice(0, 80)}" must declare its "events"`);
  }
  return { extension, manifest, version, built };
}

const createInvalidManifest = (what: string) => new LoadFailure('MANIFEST_INVALID', `package.json: ${what}.`);

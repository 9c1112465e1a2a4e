import { mkdir, readdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Log } from '#kernel';
import type { SourcePackage } from '../contract.ts';
import { type DiscoveredExtension, LoadFailure } from '../extension-types.ts';
import { EXTENSION_TYPE_BY_FOLDER } from '../manifest/extension-package-names.ts';
import { hashPackageLocationToId } from './package-id.ts';
import {
  broughtPackageKey,
  type DiscoverDeps,
  findInstalledPackages,
  findLocalExtensionPackages,
  readBroughtPackage,
} from './packages.ts';
import { findSingleFileExtensions } from './single-files.ts';

export interface DiscoveryFolders {
  /** EXTENSIONS_PATH. */
  readonly local: string;
  /** PACKAGE_FILE_LOCATION. */
  readonly project: string;
  /** Packages that another plugin has brought. */
  readonly brought?: readonly SourcePackage[];
}

/**
 * All extensions there are, in the order of their sources: installed packages, package folders, single files, brought packages
 * (conventions, "Package names and discovery"). Never rejects: a broken
 * package has a failure of its own, and a source that cannot be read has a placeholder row.
 */
export async function discoverPackages(
  { local, project, brought = [] }: DiscoveryFolders,
  deps: DiscoverDeps,
): Promise<readonly DiscoveredExtension[]> {
  const root = resolve(local);
  const installed = await orPlaceholder('(extension discovery)', () => findInstalledPackages(resolve(project), deps));
  const folders = await orPlaceholder('(local extensions)', async () => {
    if (await isMissing(root)) return [];
    return [...(await findLocalExtensionPackages(root, deps)), ...(await findSingleFileExtensions(root))];
  });
  const others = await findBroughtPackages(brought, deps);
  return [...installed, ...folders, ...others].map((found) =>
    deps.isReservedName(found.name) ? withReservedName(found) : found,
  );
}

async function findBroughtPackages(
  brought: readonly SourcePackage[],
  deps: DiscoverDeps,
): Promise<readonly DiscoveredExtension[]> {
  const found = await Promise.all(
    brought.map(async ({ name, folder, failure }) =>
      folder === undefined
        ? { ...createFailurePlaceholder(name, failure), id: hashPackageLocationToId(broughtPackageKey(name)) }
        : readBroughtPackage(name, folder, deps),
    ),
  );
  return found.filter((extension) => extension !== undefined);
}

/** The service removes what an extension added by its name, so the name must not be that of a core plugin. */
const withReservedName = (found: DiscoveredExtension): DiscoveredExtension => ({
  ...found,
  failure: new LoadFailure('MANIFEST_INVALID', 'a part of the service has this name. Rename the extension.'),
});

/** Creates EXTENSIONS_PATH and its folders by type, so that an admin finds where to put extensions. */
export async function createExtensionFolders(local: string, log: Pick<Log, 'warn'>): Promise<void> {
  try {
    for (const folder of Object.keys(EXTENSION_TYPE_BY_FOLDER))
      await mkdir(join(resolve(local), folder), { recursive: true });
  } catch (error) {
    log.warn(
      { code: (error as NodeJS.ErrnoException).code },
      'the folders of EXTENSIONS_PATH could not be created: check its rights',
    );
  }
}

/** A placeholder row for a failure that belongs to no single extension (conventions, "States and records"). */
export const createFailurePlaceholder = (name: string, failure: LoadFailure, local = true): DiscoveredExtension => ({
  id: hashPackageLocationToId(name),
  folder: '',
  name,
  local,
  type: null,
  files: {},
  revision: failure.detail,
  failure,
});

async function orPlaceholder(
  name: string,
  find: () => Promise<readonly DiscoveredExtension[]>,
): Promise<readonly DiscoveredExtension[]> {
  try {
    return await find();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const failure =
      error instanceof LoadFailure
        ? error
        : new LoadFailure(
            'DISCOVERY_FAILED',
            `a folder cannot be read (${code ?? 'unknown error'}). Check its rights.`,
            {
              cause: error,
            },
          );
    return [createFailurePlaceholder(name, failure)];
  }
}

async function isMissing(path: string): Promise<boolean> {
  try {
    await readdir(path);
    return false;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return true;
    throw error;
  }
}

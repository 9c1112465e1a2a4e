import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type DiscoveredExtension, type ExtensionManifest, LoadFailure } from '../extension-types.ts';
import {
  EXTENSION_TYPE_BY_FOLDER,
  isExtensionName,
  NON_EXTENSION_FOLDERS,
} from '../manifest/extension-package-names.ts';
import { readPackageJson } from '../manifest/read.ts';
import { type ManifestDeps, validatePackageManifest } from '../manifest/validate.ts';
import { fingerprintFolder } from './fingerprint.ts';
import { hashPackageLocationToId } from './package-id.ts';

export interface DiscoverDeps extends ManifestDeps {
  /** Logs a problem of a package that loads all the same. */
  warn(name: string, what: string): void;
  /** Whether the name belongs to the kernel or a loaded plugin. */
  isReservedName(name: string): boolean;
}

interface PackageLocation {
  readonly path: string;
  /** Unique among all locations. */
  readonly key: string;
  readonly local: boolean;
  /** The name to show if the manifest has no readable name. */
  readonly name: string;
}

/** Packages in sub-folders of EXTENSIONS_PATH (conventions, "Package names and discovery"). */
export async function findLocalExtensionPackages(
  root: string,
  deps: DiscoverDeps,
): Promise<readonly DiscoveredExtension[]> {
  const found: DiscoveredExtension[] = [];
  for (const name of (await readdir(root)).sort()) {
    for (const folder of await listCandidates(root, name)) {
      const extension = await readPackage(folder, deps);
      if (extension) found.push(extension);
    }
  }
  return found;
}

/** The folder itself, or for a scope folder the packages in it: `@acme/service-extension-orders`. */
async function listCandidates(root: string, name: string): Promise<readonly PackageLocation[]> {
  if (name.startsWith('.') || Object.hasOwn(EXTENSION_TYPE_BY_FOLDER, name) || NON_EXTENSION_FOLDERS.includes(name))
    return [];
  const location = (folder: string): PackageLocation => ({
    path: join(root, folder),
    key: `local:${folder}`,
    local: true,
    name: folder,
  });
  if (!name.startsWith('@')) return [location(name)];
  const scoped = await readdir(join(root, name)).catch(() => []);
  return scoped
    .filter((inner) => isExtensionName(`${name}/${inner}`))
    .sort()
    .map((inner) => location(`${name}/${inner}`));
}

/** The installed dependencies of the project's own package.json. */
export async function findInstalledPackages(
  project: string,
  deps: DiscoverDeps,
): Promise<readonly DiscoveredExtension[]> {
  const names = (await readDependencies(project)).filter(isExtensionName).sort();
  const found = await Promise.all(
    names.map((name) =>
      readPackage({ path: join(project, 'node_modules', name), key: `module:${name}`, local: false, name }, deps),
    ),
  );
  return found.filter((extension) => extension !== undefined);
}

/** The key of a package that another plugin brings: the same for all of its versions. */
export const broughtPackageKey = (name: string): string => `brought:${name}`;

/** A package that another plugin has brought; undefined for a third-party plugin. */
export const readBroughtPackage = (
  name: string,
  folder: string,
  deps: DiscoverDeps,
): Promise<DiscoveredExtension | undefined> =>
  readPackage({ path: folder, key: broughtPackageKey(name), local: true, name }, deps);

async function readDependencies(project: string): Promise<readonly string[]> {
  if ((await stat(join(project, 'package.json')).catch(() => undefined)) === undefined) return [];
  const { parsed } = await readPackageJson(project);
  const { dependencies } = (parsed ?? {}) as { dependencies?: unknown };
  return typeof dependencies === 'object' && dependencies !== null ? Object.keys(dependencies) : [];
}

/**
 * Reads one folder as a package. Undefined if it is not an extension: not a folder, a third-party plugin (unless
 * its folder has the name of an extension), or a folder that neither its name nor its package.json declares as an
 * extension.
 */
async function readPackage(location: PackageLocation, deps: DiscoverDeps): Promise<DiscoveredExtension | undefined> {
  const { path, key, local } = location;
  const isNamed = isExtensionName(location.name);
  let parsed: unknown;
  // Computed before any file is read, so that a change made meanwhile shows at the next load.
  let revision = '';
  try {
    if (!(await isFolder(path)) || (!isNamed && !(await declaresExtension(path)))) return undefined;
    revision = await fingerprintFolder(path);
    ({ parsed } = await readPackageJson(path));
  } catch (error) {
    return isNamed ? createBroken(location, error, revision) : undefined;
  }
  if (!isNamed && (!hasManifestKey(parsed) || isPlugin(parsed))) return undefined;
  try {
    const { name, version, manifest, warning } = validatePackageManifest(parsed, deps);
    if (warning !== undefined) deps.warn(name, warning);
    const { type } = manifest;
    const files = resolveFiles(path, manifest);
    return {
      id: hashPackageLocationToId(key),
      folder: path,
      name,
      version,
      local,
      type,
      manifest,
      files,
      revision,
    };
  } catch (error) {
    return createBroken(location, error, revision, parsed);
  }
}

/** A package that declares itself an extension and is broken, with what is known about it. */
function createBroken(
  { path, key, local, name }: PackageLocation,
  error: unknown,
  revision: string,
  parsed?: unknown,
): DiscoveredExtension {
  const version = readText(parsed, 'version');
  const failure =
    error instanceof LoadFailure
      ? error
      : new LoadFailure('DISCOVERY_FAILED', describeError(error, local), { cause: error });
  return {
    id: hashPackageLocationToId(key),
    folder: path,
    name: readText(parsed, 'name') ?? name,
    local,
    type: null,
    ...(version === undefined ? {} : { version }),
    files: {},
    revision,
    failure,
  };
}

const describeError = (error: unknown, local: boolean): string => {
  const { code = 'unknown error' } = error as NodeJS.ErrnoException;
  if (code === 'ENOENT')
    return local ? 'its link leads nowhere. Correct or remove it.' : 'it is not installed. Install it.';
  return `the folder cannot be read (${code}). Check its rights.`;
};

/** Throws if the entry cannot be read: a link without a target, a link cycle, missing rights. */
async function isFolder(path: string): Promise<boolean> {
  if (!(await stat(path)).isDirectory()) return false;
  await readdir(path);
  return true;
}

/** Whether package.json declares an extension though the folder's name does not. Reads no other file of the folder. */
async function declaresExtension(path: string): Promise<boolean> {
  const { parsed } = await readPackageJson(path);
  return hasManifestKey(parsed) && !isPlugin(parsed);
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const hasManifestKey = (parsed: unknown): boolean => isRecord(parsed) && parsed['service:extension'] !== undefined;
const isPlugin = (parsed: unknown): boolean =>
  isRecord(parsed) && isRecord(parsed['service:extension']) && parsed['service:extension'].type === 'plugin';
const readText = (parsed: unknown, key: 'name' | 'version'): string | undefined => {
  const value = isRecord(parsed) ? parsed[key] : undefined;
  return typeof value === 'string' && value !== '' ? value.slice(0, 300) : undefined;
};

function resolveFiles(folder: string, { type, path }: ExtensionManifest): DiscoveredExtension['files'] {
  if (typeof path !== 'string') return { app: join(folder, path.app), api: join(folder, path.api) };
  return type === 'hook' || type === 'endpoint' ? { api: join(folder, path) } : { app: join(folder, path) };
}

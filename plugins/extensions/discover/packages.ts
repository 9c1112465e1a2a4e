import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { isExtensionName, OTHER_FOLDERS, TYPE_FOLDERS } from '../manifest/names.ts';
import { readPackageJson } from '../manifest/read.ts';
import { type ManifestDeps, validatePackage } from '../manifest/validate.ts';
import { type DiscoveredExtension, type ExtensionManifest, LoadFailure } from '../model.ts';
import { fingerprint } from './fingerprint.ts';
import { createPackageId } from './package-id.ts';

export interface DiscoverDeps extends ManifestDeps {
  /** What is odd about a package that loads all the same. */
  warn(name: string, what: string): void;
  /** Is this the name of a part of the service itself? */
  isReservedName(name: string): boolean;
}

interface PackageLocation {
  readonly path: string;
  /** Unique among all places. */
  readonly key: string;
  readonly local: boolean;
  /** Stands for the package where its manifest does not say its name. */
  readonly name: string;
}

/** Packages in sub-folders of EXTENSIONS_PATH (conventions, "Package names and discovery"). */
export async function findPackageFolders(root: string, deps: DiscoverDeps): Promise<readonly DiscoveredExtension[]> {
  const found: DiscoveredExtension[] = [];
  for (const name of (await readdir(root)).sort()) {
    for (const folder of await listCandidates(root, name)) {
      const one = await readPackage(folder, deps);
      if (one) found.push(one);
    }
  }
  return found;
}

/** A folder, or the packages of a scope: `@acme/service-extension-orders` lies in a folder of its scope. */
async function listCandidates(root: string, name: string): Promise<readonly PackageLocation[]> {
  if (name.startsWith('.') || Object.hasOwn(TYPE_FOLDERS, name) || OTHER_FOLDERS.includes(name)) return [];
  const place = (folder: string): PackageLocation => ({
    path: join(root, folder),
    key: `local:${folder}`,
    local: true,
    name: folder,
  });
  if (!name.startsWith('@')) return [place(name)];
  const scoped = await readdir(join(root, name)).catch(() => []);
  return scoped
    .filter((inner) => isExtensionName(`${name}/${inner}`))
    .sort()
    .map((inner) => place(`${name}/${inner}`));
}

/** Packages that the project's own package.json depends on, where they are installed. */
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
  return found.filter((one) => one !== undefined);
}

async function readDependencies(project: string): Promise<readonly string[]> {
  // Where there is no project, nothing is installed.
  if ((await stat(join(project, 'package.json')).catch(() => undefined)) === undefined) return [];
  const { parsed } = await readPackageJson(project);
  const { dependencies } = (parsed ?? {}) as { dependencies?: unknown };
  return typeof dependencies === 'object' && dependencies !== null ? Object.keys(dependencies) : [];
}

/**
 * One folder as a package. Undefined where it is none of ours: no folder, a plugin (which the kernel runs, unless its
 * folder is called an extension), or a folder that neither its name nor its package.json calls an extension.
 */
async function readPackage(place: PackageLocation, deps: DiscoverDeps): Promise<DiscoveredExtension | undefined> {
  const { path, key, local } = place;
  const isNamed = isExtensionName(place.name);
  let parsed: unknown;
  // Looked at before anything is read: what changes meanwhile is found to have changed.
  let revision = '';
  try {
    if (!(await isFolder(path)) || (!isNamed && !(await declaresExtension(path)))) return undefined;
    revision = await fingerprint(path);
    ({ parsed } = await readPackageJson(path));
  } catch (error) {
    return isNamed ? createBroken(place, error, revision) : undefined;
  }
  if (!isNamed && (!hasManifestKey(parsed) || isPlugin(parsed))) return undefined;
  try {
    const { name, version, manifest, warning } = validatePackage(parsed, deps);
    if (warning !== undefined) deps.warn(name, warning);
    const { type } = manifest;
    const files = resolveFiles(path, manifest);
    return {
      id: createPackageId(key),
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
    return createBroken(place, error, revision, parsed);
  }
}

/** Something that calls itself an extension and cannot be one: as much as is known of it. */
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
    id: createPackageId(key),
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

/** Throws where there is something that cannot be looked into: a link that leads nowhere or in a circle, missing rights. */
async function isFolder(path: string): Promise<boolean> {
  if (!(await stat(path)).isDirectory()) return false;
  await readdir(path);
  return true;
}

/** Says so without being called so. All that lies in the folder of somebody else's package is not looked through. */
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

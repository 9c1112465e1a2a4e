import { createReadStream } from 'node:fs';
import { readFile, rm, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { InterProcessLock } from '../cluster/contract.ts';
import { REMOVAL_HOLD_LOCK, type StorageLocation } from '../storage/contract.ts';
import { createTemporaryFolder } from '../storage/library.ts';
import { archiveObjectName, packFolder, unpackArchive } from './archive.ts';
import { hashFile, hashFolder } from './checksums.ts';
import type { PublishedPackage, PublishedPackages } from './published-packages.ts';

interface Deps {
  readonly location: StorageLocation;
  readonly published: PublishedPackages;
  readonly lock: Pick<InterProcessLock, 'run'>;
}

/** The names that npm allows, by which a folder is named. */
const NAME = /^(?:@[a-z0-9~-][a-z0-9._~-]*\/)?[a-z0-9~-][a-z0-9._~-]*$/;

/**
 * Publishes a folder, or an archive of `npm pack`: first the bytes, then the row that makes all processes run them.
 * @throws Error that says what is wrong with the package.
 */
export async function publishPackage(path: string, { location, published, lock }: Deps): Promise<PublishedPackage> {
  const folder = await createTemporaryFolder('object');
  try {
    const archive = await prepareArchive(resolve(path), join(folder, 'package.tgz'));
    const unpacked = join(folder, 'unpacked');
    await unpackArchive(archive, unpacked);
    const { name, version } = await readManifest(unpacked);
    const one = { name, version, archive: await hashFile(archive), content: await hashFolder(unpacked) };
    // Also where there is one: it may have other bytes than its name says.
    const stored = createReadStream(archive);
    await location.write(archiveObjectName(one.archive), stored, { type: 'application/gzip' });
    await removeArchives(await published.put(one), location, lock);
    return one;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** False if no package of this name is published. */
export async function unpublishPackage(name: string, { location, published, lock }: Deps): Promise<boolean> {
  const unused = await published.remove(name);
  if (unused) await removeArchives(unused, location, lock);
  return unused !== undefined;
}

/**
 * Removes archives, after a backup that is running: it may still copy them. A process that is about to read one of them finds that it is gone,
 * and tries again with the rows of then.
 */
async function removeArchives(
  archives: readonly string[],
  location: StorageLocation,
  lock: Deps['lock'],
): Promise<void> {
  if (archives.length === 0) return;
  await lock.run(REMOVAL_HOLD_LOCK, async () => {
    for (const one of archives) await location.remove(archiveObjectName(one));
  });
}

async function prepareArchive(path: string, file: string): Promise<string> {
  const about = await stat(path).catch(() => undefined);
  if (about?.isFile()) return path;
  if (!about?.isDirectory()) throw new Error(`there is neither a folder nor an archive at ${path}`);
  await packFolder(path, file);
  return file;
}

async function readManifest(folder: string): Promise<{ readonly name: string; readonly version: string }> {
  const text = await readFile(join(folder, 'package.json'), 'utf8').catch(() => undefined);
  if (text === undefined) throw new Error('it has no package.json');
  const parsed = JSON.parse(text) as Record<string, unknown> | null;
  const { name, version } = parsed ?? {};
  if (typeof name !== 'string' || name.length > 214 || !NAME.test(name))
    throw new Error('the "name" in its package.json is not one that a package can have');
  if (typeof version !== 'string' || version === '') throw new Error('its package.json has no "version"');
  if (typeof parsed?.['service:extension'] !== 'object')
    throw new Error('its package.json has no "service:extension", so it is no package for this service');
  return { name, version };
}

import { randomBytes } from 'node:crypto';
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** The secret kept under the data folder, made on first use. Processes that start together end up with the same one. */
export async function keptSecret(folder: string): Promise<string> {
  const path = join(folder, 'secret');
  const kept = await contentOf(path);
  if (kept) return kept;
  await mkdir(folder, { recursive: true });
  const draft = `${path}.${randomBytes(6).toString('hex')}`;
  await writeFile(draft, `${randomBytes(48).toString('base64url')}\n`, { mode: 0o600, flag: 'wx' });
  try {
    // A link appears whole or not at all, and only one process can make it.
    await link(draft, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    await rm(draft, { force: true });
  }
  const made = await contentOf(path);
  if (!made) throw Object.assign(new Error(`${path} is empty`), { remedy: 'remove the file, or set SECRET' });
  return made;
}

async function contentOf(path: string): Promise<string | undefined> {
  try {
    return (await readFile(path, 'utf8')).trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

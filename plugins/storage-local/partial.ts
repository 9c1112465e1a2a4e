import { createHash, randomBytes } from 'node:crypto';
import { opendir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { ifThere } from './absent.ts';
import { entriesOf } from './list.ts';
import { PARTIAL } from './places.ts';

/** A name this long leaves room for what is put behind it: file systems take 255 bytes. */
const LONGEST = 200;

/** Milliseconds without a byte after which nobody writes any more: other processes may have the same root. */
const ABANDONED = 24 * 60 * 60 * 1000;

const stem = (name: string): string =>
  name.length <= LONGEST ? name : createHash('sha256').update(name).digest('hex');

/** A new name for a write of this object. */
export const partialName = (name: string): string => `${stem(name)}.${randomBytes(8).toString('hex')}`;

/**
 * Of all writes of this object, and of no other one whose name only begins alike. Fails where their folder is gone: all that could
 * be removed is then somewhere else, on a disk that is not mounted.
 */
export async function removePartials(root: string, name: string): Promise<void> {
  const begin = `${stem(name)}.`;
  for await (const entry of await opendir(join(root, PARTIAL))) {
    const isOf = entry.name.startsWith(begin) && /^[0-9a-f]{16}$/.test(entry.name.slice(begin.length));
    if (isOf) await rm(join(root, PARTIAL, entry.name), { force: true });
  }
}

/** Of processes that ended while they wrote objects which nobody will ever remove. */
export async function removeAbandoned(root: string, now = Date.now()): Promise<void> {
  for await (const entry of entriesOf(join(root, PARTIAL))) {
    const path = join(root, PARTIAL, entry.name);
    const about = await ifThere(stat(path));
    if (about?.isFile() && now - about.mtimeMs > ABANDONED) await rm(path, { force: true });
  }
}

import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const PURPOSES = ['object', 'beginning', 'part', 'asset'] as const;
const OURS = new RegExp(`^tenon-(?:${PURPOSES.join('|')})-[A-Za-z0-9]{6}$`);

/** Milliseconds without a change after which nobody works with one any more: other services may have theirs beside ours. */
const ABANDONED = 24 * 60 * 60 * 1000;

/** A new folder among the system's temporary ones. Whoever asks for it removes it; those of a process that was killed go later. */
export const temporaryFolder = (purpose: (typeof PURPOSES)[number]): Promise<string> =>
  mkdtemp(join(tmpdir(), `tenon-${purpose}-`));

/** Of processes that ended while they worked with them. Never fails: some may be others'. */
export async function removeAbandonedFolders(now = Date.now()): Promise<void> {
  const names = await readdir(tmpdir()).catch(() => []);
  for (const name of names.filter((one) => OURS.test(one))) {
    const path = join(tmpdir(), name);
    const about = await stat(path).catch(() => undefined);
    if (about?.isDirectory() && now - about.mtimeMs > ABANDONED)
      await rm(path, { recursive: true, force: true }).catch(() => {});
  }
}

import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const PURPOSES = ['object', 'beginning', 'part', 'asset'] as const;
type Purpose = (typeof PURPOSES)[number];
const OURS = new RegExp(`^tenon-(?:${PURPOSES.join('|')})-(?:(?<folder>[A-Za-z0-9]{6})|[0-9a-f]{32})$`);

/** Milliseconds without a change after which nobody works with one any more: other services may have theirs beside ours. */
const ABANDONED = 24 * 60 * 60 * 1000;

/**
 * A new folder among the system's temporary ones, for a file whose name matters. Whoever asks for it removes it; those of a
 * process that was killed go later.
 */
export const temporaryFolder = (purpose: Purpose): Promise<string> => mkdtemp(join(tmpdir(), `tenon-${purpose}-`));

/**
 * The path of a file that is not there yet, to be opened with `wx` and mode 600: the folder is everybody's. Whoever opens it
 * removes it; that of a process that was killed goes later.
 */
export const temporaryFile = (purpose: Purpose): string =>
  join(tmpdir(), `tenon-${purpose}-${randomBytes(16).toString('hex')}`);

/** What processes left that ended while they worked with it. Never fails: some may be others'. */
export async function removeAbandoned(now = Date.now()): Promise<void> {
  const names = await readdir(tmpdir()).catch(() => []);
  for (const ours of names.map((name) => OURS.exec(name))) {
    if (!ours) continue;
    const path = join(tmpdir(), ours[0]);
    const about = await stat(path).catch(() => undefined);
    if (about?.isDirectory() !== (ours.groups?.folder !== undefined)) continue;
    if (now - about.mtimeMs > ABANDONED) await rm(path, { recursive: true, force: true }).catch(() => {});
  }
}

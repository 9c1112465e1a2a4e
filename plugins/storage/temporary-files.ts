import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const PURPOSES = ['object', 'beginning', 'part', 'asset', 'import'] as const;
type Purpose = (typeof PURPOSES)[number];
const TEMPORARY_NAME = new RegExp(`^tenon-(?:${PURPOSES.join('|')})-(?:(?<folder>[A-Za-z0-9]{6})|[0-9a-f]{32})$`);

/** Milliseconds without a change after which a temporary file counts as abandoned: other processes share the folder. */
const ABANDONED_AFTER = 24 * 60 * 60 * 1000;

/**
 * Creates a temporary folder, for a file whose name matters. The caller removes it; `removeAbandonedTemporaryFiles` removes those of
 * killed processes.
 */
export const createTemporaryFolder = (purpose: Purpose): Promise<string> =>
  mkdtemp(join(tmpdir(), `tenon-${purpose}-`));

/**
 * A path for a new temporary file. Open it with `wx` and mode 600, since the folder is shared. The caller removes it;
 * `removeAbandonedTemporaryFiles` removes those of killed processes.
 */
export const createTemporaryFilePath = (purpose: Purpose): string =>
  join(tmpdir(), `tenon-${purpose}-${randomBytes(16).toString('hex')}`);

/** Removes temporary files and folders of killed processes. Never rejects: entries of other users cannot be removed. */
export async function removeAbandonedTemporaryFiles(now = Date.now()): Promise<void> {
  const names = await readdir(tmpdir()).catch(() => []);
  for (const match of names.map((name) => TEMPORARY_NAME.exec(name))) {
    if (!match) continue;
    const path = join(tmpdir(), match[0]);
    const about = await stat(path).catch(() => undefined);
    if (about?.isDirectory() !== (match.groups?.folder !== undefined)) continue;
    if (now - about.mtimeMs > ABANDONED_AFTER) await rm(path, { recursive: true, force: true }).catch(() => {});
  }
}

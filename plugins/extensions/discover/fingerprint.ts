import { createHash } from 'node:crypto';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * Folders that the fingerprint leaves out: installed dependencies and version control are large, and an author does not change
 * them.
 */
const SKIPPED: ReadonlySet<string> = new Set(['node_modules', '.git']);
const MAX_FILES = 20_000;
const MAX_DEPTH = 32;

/**
 * Computes a short text that changes when a file under the folder changes. Uses names, sizes and times and reads no
 * file. Follows links. An entry that cannot be read counts with its error code.
 */
export async function fingerprintFolder(folder: string): Promise<string> {
  const hash = createHash('sha1');
  for (const line of (await listFiles(folder)).sort()) hash.update(line).update('\n');
  return hash.digest('base64url').slice(0, 16);
}

async function listFiles(folder: string): Promise<string[]> {
  const lines: string[] = [];
  const walk = async (path: string, below: string, depth: number): Promise<void> => {
    if (depth > MAX_DEPTH || lines.length > MAX_FILES) return;
    let names: string[];
    try {
      names = await readdir(path);
    } catch (error) {
      lines.push(`${below} ${(error as NodeJS.ErrnoException).code}`);
      return;
    }
    for (const name of names) {
      if (SKIPPED.has(name)) continue;
      const child = `${below}/${name}`;
      try {
        const entry = await stat(join(path, name));
        if (entry.isDirectory()) {
          lines.push(`${child}/`);
          await walk(join(path, name), child, depth + 1);
        } else lines.push(`${child} ${entry.size} ${entry.mtimeMs} ${entry.ctimeMs} ${entry.ino}`);
      } catch (error) {
        lines.push(`${child} ${(error as NodeJS.ErrnoException).code}`);
      }
    }
  };
  await walk(folder, '', 0);
  return lines;
}

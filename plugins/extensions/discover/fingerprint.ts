import { createHash } from 'node:crypto';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** Installed dependencies and version control: large, and no part of what an author changes. */
const SKIPPED: ReadonlySet<string> = new Set(['node_modules', '.git']);
const MAX_FILES = 20_000;
const MAX_DEPTH = 32;

/**
 * A short text that changes when any file under a folder does: by names, sizes and times, without reading a file. Links
 * are followed. What cannot be read is a part of it as such.
 */
export async function fingerprint(folder: string): Promise<string> {
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
        const found = await stat(join(path, name));
        if (found.isDirectory()) {
          lines.push(`${child}/`);
          await walk(join(path, name), child, depth + 1);
        } else lines.push(`${child} ${found.size} ${found.mtimeMs} ${found.ctimeMs} ${found.ino}`);
      } catch (error) {
        lines.push(`${child} ${(error as NodeJS.ErrnoException).code}`);
      }
    }
  };
  await walk(folder, '', 0);
  return lines;
}

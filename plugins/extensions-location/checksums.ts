import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';

/** SHA-256 of a file, in hexadecimal. */
export async function hashFile(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}

/** SHA-256 over the names and contents of all files under a folder, in hexadecimal. Rejects for what is neither a file nor a folder. */
export async function hashFolder(folder: string): Promise<string> {
  const hash = createHash('sha256');
  for (const path of (await listFiles(folder, '')).toSorted())
    hash.update(`${path}\0${await hashFile(join(folder, path))}\n`);
  return hash.digest('hex');
}

async function listFiles(folder: string, below: string): Promise<readonly string[]> {
  const found: string[] = [];
  for (const entry of await readdir(join(folder, below), { withFileTypes: true })) {
    const path = below === '' ? entry.name : `${below}/${entry.name}`;
    if (entry.isDirectory()) found.push(...(await listFiles(folder, path)));
    else if (entry.isFile()) found.push(path);
    else throw new Error(`${path} is neither a file nor a folder`);
  }
  return found;
}

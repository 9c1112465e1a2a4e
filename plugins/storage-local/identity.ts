import { randomUUID } from 'node:crypto';
import { link, readFile, rm, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import type { PlaceIdentity } from '../storage/contract.ts';
import { ifThere } from './absent.ts';
import { PARTIAL } from './places.ts';

/** No object has this name: names of objects do not begin with a dot. */
const FILE = '.place';

/** The id in the folder, made by the first process that asks for it. */
export async function identityOf(root: string): Promise<PlaceIdentity> {
  const path = join(root, FILE);
  const known = async () => (await ifThere(readFile(path, 'utf8')))?.trim();
  return { id: (await known()) || (await createId(root, path, known)), name: `${hostname()}:${root}` };
}

async function createId(root: string, path: string, known: () => Promise<string | undefined>): Promise<string> {
  const id = randomUUID();
  const draft = join(root, PARTIAL, `place.${id}`);
  await writeFile(draft, `${id}\n`, { flag: 'wx' });
  try {
    // A link appears whole or not at all, and only one process can make it.
    await link(draft, path);
    return id;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    return (await known()) ?? id;
  } finally {
    await rm(draft, { force: true });
  }
}

import type { Dirent } from 'node:fs';
import { opendir } from 'node:fs/promises';
import { join } from 'node:path';
import type { StoredObject } from '../storage/contract.ts';
import { ifThere } from './absent.ts';
import { GROUPS, groupOf, mayHold } from './places.ts';
import { statObject } from './read.ts';

/** Names that are fetched from a folder at once: none is held in memory whole. */
const BATCH = 256;

/** Objects whose names begin so. Where the prefix tells their group, no other folder is read. */
export async function* listObjects(root: string, prefix: string): AsyncGenerator<StoredObject> {
  const group = groupOf(prefix);
  if (group !== undefined) return yield* objectsIn(join(root, GROUPS, group), prefix);
  yield* objectsIn(root, prefix);
  for await (const { name } of entriesOf(join(root, GROUPS))) {
    if (mayHold(name, prefix)) yield* objectsIn(join(root, GROUPS, name), prefix);
  }
}

async function* objectsIn(folder: string, prefix: string): AsyncGenerator<StoredObject> {
  for await (const entry of entriesOf(folder)) {
    if (entry.isDirectory() || !entry.name.startsWith(prefix)) continue;
    const object = await statObject(join(folder, entry.name), entry.name);
    // Removed since its name was read.
    if (object) yield object;
  }
}

/** Nothing where there is no such folder. */
export async function* entriesOf(folder: string): AsyncGenerator<Dirent> {
  const names = await ifThere(opendir(folder, { bufferSize: BATCH }));
  if (names) yield* names;
}

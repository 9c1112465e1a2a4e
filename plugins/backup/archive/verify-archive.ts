import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { BackupError } from '../failures.ts';
import type { Progress } from '../progress.ts';
import { ENTRIES } from './format.ts';
import { readEntries, toReadError } from './read-archive.ts';

/** Damaged entries that a message names. */
const MAX_NAMED = 5;

/**
 * Reads the whole archive and compares all checksums, with flat memory. `temporaryFile` is a path for the checksums as they are.
 * @throws BackupError for an archive that is damaged or incomplete.
 */
export async function verifyArchive(path: string, temporaryFile: string, progress: Progress): Promise<void> {
  const found = await open(temporaryFile, 'wx', 0o600);
  let isComplete = false;
  try {
    for await (const { name, content } of readEntries(path)) {
      if (isComplete) throw createDamagedError([`${name}, behind the checksums`]);
      if (name === ENTRIES.checksums) {
        isComplete = true;
        await assertSameLines(content, temporaryFile);
        continue;
      }
      const hash = createHash('sha256');
      for await (const part of content) {
        hash.update(part as Buffer);
        progress.addBytes((part as Buffer).length);
      }
      await found.write(`${hash.digest('hex')}  ${name}\n`);
    }
  } catch (error) {
    throw toReadError(error, path);
  } finally {
    await found.close();
  }
  if (!isComplete)
    throw new BackupError(
      'the archive has no checksums: it is cut off',
      'take another copy of it, or an earlier backup',
    );
}

/** The archive lists its entries in their order, so both lists are compared line by line. */
async function assertSameLines(expected: Readable, foundFile: string): Promise<void> {
  const found = createInterface({ input: createReadStream(foundFile) })[Symbol.asyncIterator]();
  const damaged: string[] = [];
  for await (const line of createInterface({ input: expected })) {
    const { value } = await found.next();
    if (value !== line && damaged.length < MAX_NAMED) damaged.push(line.slice(line.indexOf('  ') + 2));
  }
  const { done, value } = await found.next();
  if (!done) damaged.push(String(value));
  if (damaged.length > 0) throw createDamagedError(damaged);
}

const createDamagedError = (names: readonly string[]) =>
  new BackupError(`the archive is damaged: ${names.join(', ')}`, 'take another copy of it, or an earlier backup');

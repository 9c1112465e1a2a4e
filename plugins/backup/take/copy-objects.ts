import type { OpenedStorageObject, StorageService } from '../../storage/contract.ts';
import { objectEntryName } from '../archive/format.ts';
import type { ArchiveWriter } from '../archive/write-archive.ts';
import type { Progress } from '../progress.ts';
import type { SnapshotObject } from './snapshot.ts';

/** Objects that are opened ahead: a storage far away takes longer to open a small object than to send it. */
const AHEAD = 8;

export interface CopiedObjects {
  readonly objects: number;
  readonly bytes: number;
  /** Objects that rows name and that are not in storage, or have another length: lines for people. */
  readonly damaged: readonly string[];
  /** Of these, the ones that are not in the archive. */
  readonly missing: number;
}

interface Deps {
  readonly storage: Pick<StorageService, 'at'>;
  readonly writer: Pick<ArchiveWriter, 'add'>;
  readonly progress: Progress;
  readonly signal: AbortSignal;
}

type Opening = readonly [SnapshotObject, Promise<OpenedStorageObject | undefined>];

/** Copies objects into the archive, one after the other, with flat memory. */
export async function copyObjects(
  objects: AsyncGenerator<SnapshotObject>,
  { storage, writer, progress, signal }: Deps,
): Promise<CopiedObjects> {
  const damaged: string[] = [];
  let [count, bytes, missing] = [0, 0, 0];
  const opened: Opening[] = [];
  const openNext = async () => {
    const { done, value } = await objects.next();
    if (done) return;
    const opening = storage.at(value.location).open(value.name);
    // A failure is that of the object when its turn comes.
    opening.catch(() => {});
    opened.push([value, opening]);
  };
  try {
    for (let at = 0; at < AHEAD; at++) await openNext();
    for (let next = opened.shift(); next; next = opened.shift()) {
      signal.throwIfAborted();
      const [object, opening] = next;
      const found = await opening;
      if (!found) {
        missing++;
        damaged.push(`${object.location}/${object.name} is missing: the bytes of ${object.row}`);
      } else {
        const { location, name, size, type } = object;
        if (size !== null && size !== found.size)
          damaged.push(`${location}/${name} has ${found.size} bytes, its row says ${size}`);
        const entry = { name: objectEntryName(location, name), size: found.size, ...(type ? { comment: type } : {}) };
        await writer.add(entry, found.bytes);
        progress.addObject();
        progress.addBytes(found.size);
        count++;
        bytes += found.size;
      }
      await openNext();
    }
  } finally {
    await closeAll(opened);
  }
  return { objects: count, bytes, damaged, missing };
}

async function closeAll(opened: readonly Opening[]): Promise<void> {
  for (const [, opening] of opened) (await opening.catch(() => undefined))?.bytes.destroy();
}

import { addAbortSignal, Readable } from 'node:stream';
import type { OpenedStorageObject, StorageService } from '../../storage/contract.ts';
import { objectEntryName } from '../archive/format.ts';
import type { ArchiveWriter } from '../archive/write-archive.ts';
import type { Progress } from '../progress.ts';
import type { SnapshotObject } from './snapshot.ts';

/** Small objects that are read ahead: a storage far away takes longer to open one than to send it. */
const AHEAD = 8;
/** Bytes of an object that is read ahead, into memory. A larger one is opened when its turn comes: servers cut downloads that stall. */
const MAX_AHEAD_SIZE = 1024 * 1024;

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

/** What an object of storage holds; undefined where it is missing. */
type ObjectContent = Pick<OpenedStorageObject, 'size'> & { readonly bytes: AsyncIterable<Uint8Array> };
/** An object in turn; `reading` for one that is read ahead. */
type QueuedObject = readonly [SnapshotObject, reading: Promise<ObjectContent | undefined> | undefined];

/** Copies objects into the archive, one after the other, with flat memory. */
export async function copyObjects(
  objects: AsyncGenerator<SnapshotObject>,
  { storage, writer, progress, signal }: Deps,
): Promise<CopiedObjects> {
  const damaged: string[] = [];
  let [count, bytes, missing] = [0, 0, 0];
  const queue: QueuedObject[] = [];
  const ending = new AbortController();
  const open = ({ location, name }: SnapshotObject) => storage.at(location).open(name);
  const queueNext = async () => {
    const { done, value } = await objects.next();
    if (done) return;
    const isSmall = value.size !== null && value.size <= MAX_AHEAD_SIZE;
    const reading = isSmall ? readAhead(() => open(value), ending.signal) : undefined;
    // A failure is that of the object when its turn comes.
    reading?.catch(() => {});
    queue.push([value, reading]);
  };
  try {
    for (let at = 0; at < AHEAD; at++) await queueNext();
    for (let next = queue.shift(); next; next = queue.shift()) {
      signal.throwIfAborted();
      const [object, reading] = next;
      const found = await (reading ?? open(object));
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
      await queueNext();
    }
  } finally {
    ending.abort();
    await Promise.allSettled(queue.map(([, reading]) => reading));
  }
  return { objects: count, bytes, damaged, missing };
}

/** Reads an object into memory. One that is larger than its row says is closed, and opened again when its bytes are read. */
async function readAhead(
  open: () => Promise<OpenedStorageObject | undefined>,
  signal: AbortSignal,
): Promise<ObjectContent | undefined> {
  const found = await open();
  if (!found) return undefined;
  if (found.size > MAX_AHEAD_SIZE) {
    found.bytes.destroy();
    return { size: found.size, bytes: readAgain(open) };
  }
  addAbortSignal(signal, found.bytes);
  const parts: Uint8Array[] = [];
  for await (const part of found.bytes) parts.push(part as Uint8Array);
  return { size: found.size, bytes: Readable.from(parts) };
}

async function* readAgain(open: () => Promise<OpenedStorageObject | undefined>): AsyncGenerator<Uint8Array> {
  yield* (await open())?.bytes ?? [];
}

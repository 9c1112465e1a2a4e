import { type FileHandle, open, rm } from 'node:fs/promises';
import { fail } from '#kernel';
import { countBytesForGarbageCollection, createHeapGrowthLimit, createTemporaryFilePath } from '../storage/library.ts';

const BUFFER_SIZE = 64 * 1024;

/** Bytes in a temporary file without a name: it disappears with the process, also where that is killed. */
export interface TemporaryFile {
  /** The bytes from the beginning. A part is valid until the next one is requested. */
  read(): AsyncGenerator<Uint8Array, void, undefined>;
  close(): Promise<void>;
}

/**
 * Stores bytes in a temporary file, so that a slow client holds no connection to the database, and the bytes can be
 * read again.
 * @throws CONTENT_TOO_LARGE for more than `maxBytes`, the reason of `signal`, and the errors of `bytes`
 */
export async function storeInTemporaryFile(
  bytes: AsyncIterable<Uint8Array>,
  { maxBytes, signal }: { readonly maxBytes: number; readonly signal: AbortSignal },
): Promise<TemporaryFile> {
  const path = createTemporaryFilePath('import');
  const handle = await open(path, 'wx+', 0o600);
  try {
    await rm(path);
    let size = 0;
    for await (const part of bytes) {
      signal.throwIfAborted();
      size += part.length;
      if (size > maxBytes)
        throw fail('CONTENT_TOO_LARGE', `The file has more than the ${maxBytes} bytes allowed.`, { limit: maxBytes });
      await handle.writeFile(part);
      countBytesForGarbageCollection(part.length);
    }
  } catch (error) {
    await handle.close();
    throw error;
  }
  return { read: () => readFromStart(handle), close: () => handle.close() };
}

async function* readFromStart(handle: FileHandle): AsyncGenerator<Uint8Array, void, undefined> {
  const buffer = Buffer.allocUnsafe(BUFFER_SIZE);
  const limitHeapGrowth = createHeapGrowthLimit();
  for (let position = 0; ; ) {
    const { bytesRead } = await handle.read(buffer, 0, BUFFER_SIZE, position);
    if (bytesRead === 0) return;
    yield buffer.subarray(0, bytesRead);
    position += bytesRead;
    countBytesForGarbageCollection(bytesRead);
    limitHeapGrowth();
  }
}

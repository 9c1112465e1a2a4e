import { createHash, type Hash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { type FileHandle, open, stat } from 'node:fs/promises';
import { Transform, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type Pack, pack } from 'tar-stream';
import { ENTRIES } from './format.ts';

/** An entry of an archive. */
export interface ArchiveEntry {
  readonly name: string;
  /** Bytes: those of `content` have to be as many. */
  readonly size: number;
  readonly modified?: Date;
  /** A comment of the entry (POSIX pax): the type of an object. */
  readonly comment?: string;
}

/** Writes an archive to a stream, entry by entry, with flat memory. */
export interface ArchiveWriter {
  /** @throws where `content` has another number of bytes, and the errors of both streams. */
  add(entry: ArchiveEntry, content: AsyncIterable<Uint8Array>): Promise<void>;
  addText(name: string, text: string): Promise<void>;
  addFile(name: string, path: string): Promise<void>;
  /** Writes the checksums and the end. Resolves when the stream has taken everything. */
  finish(): Promise<void>;
  /** Closes the list of checksums after a failure. */
  close(): Promise<void>;
}

/** `checksumFile` is a path for a temporary file: an archive may have millions of entries. */
export async function createArchiveWriter(target: Writable, checksumFile: string): Promise<ArchiveWriter> {
  const archive = pack();
  const sent = pipeline(archive as unknown as NodeJS.ReadableStream, target);
  // The failure of an entry is that of the pipeline as well.
  sent.catch(() => {});
  const checksums = await open(checksumFile, 'wx', 0o600);

  async function add(entry: ArchiveEntry, content: AsyncIterable<Uint8Array>): Promise<void> {
    const hash = createHash('sha256');
    await Promise.race([writeEntry(archive, entry, content, hash), failureOf(sent)]);
    await appendLine(checksums, `${hash.digest('hex')}  ${entry.name}\n`);
  }
  const addFile = async (name: string, path: string) =>
    add({ name, size: (await stat(path)).size }, createReadStream(path));

  return {
    add,
    addFile,
    addText: (name, text) => add({ name, size: Buffer.byteLength(text) }, oneChunk(Buffer.from(text))),
    async finish() {
      await checksums.close();
      await addUnlisted(archive, checksumFile);
      archive.finalize();
      await sent;
    },
    async close() {
      archive.destroy();
      await checksums.close().catch(() => {});
    },
  };
}

const appendLine = (file: FileHandle, line: string) => file.write(line);

async function* oneChunk(bytes: Buffer): AsyncGenerator<Uint8Array> {
  yield bytes;
}

/** Rejects with the stream's failure, and never resolves. */
const failureOf = (sent: Promise<unknown>): Promise<never> => sent.then(() => new Promise<never>(() => {}));

function writeEntry(
  archive: Pack,
  { name, size, modified = new Date(), comment }: ArchiveEntry,
  content: AsyncIterable<Uint8Array>,
  hash: Hash,
): Promise<void> {
  const sink = archive.entry({ name, size, mtime: modified, mode: 0o600, ...(comment ? { pax: { comment } } : {}) });
  const hashing = new Transform({
    transform(part: Buffer, _encoding, done) {
      hash.update(part);
      done(null, part);
    },
  });
  return pipeline(content, hashing, sink as unknown as NodeJS.WritableStream);
}

async function addUnlisted(archive: Pack, path: string): Promise<void> {
  const { size } = await stat(path);
  await writeEntry(archive, { name: ENTRIES.checksums, size }, createReadStream(path), createHash('sha256'));
}

import { fail, type Log } from '#kernel';
import type { StorageLocation } from '../storage/contract.ts';
import { createUploadLockedFailure } from './failures.ts';
import { splitBytes } from './split.ts';
import type { UploadPiece, UploadRepository } from './upload-repository.ts';

interface Deps {
  readonly uploads: UploadRepository;
  readonly location: StorageLocation;
  readonly log: Pick<Log, 'warn'>;
}

/**
 * Stores bytes from the offset `start` on, in pieces of at most `limit` bytes, and answers the new offset. A piece counts as soon as
 * it is stored, so a failure costs the client one piece at most. When a client leaves, its bytes end here, and the last piece is
 * shorter.
 */
export async function receiveUploadPieces(
  deps: Deps,
  id: string,
  start: number,
  bytes: AsyncIterable<Uint8Array>,
  limit: number,
): Promise<number> {
  let end = start;
  for await (const part of splitBytes(bytes, limit)) end += await receivePiece(deps, id, end, part);
  return end;
}

async function receivePiece(
  { uploads, location, log }: Deps,
  id: string,
  start: number,
  bytes: AsyncIterable<Uint8Array>,
): Promise<number> {
  const name = await uploads.beginPiece(id, start);
  const undo = async (): Promise<void> => {
    try {
      await location.remove(name);
      await uploads.forgetPieces([name]);
    } catch (error) {
      // The row of the piece stays, so the piece is removed with the upload.
      log.warn({ err: error, storage: location.name, object: name }, 'a piece of an upload could not be removed');
    }
  };
  let size: number;
  try {
    size = await location.write(name, bytes);
  } catch (error) {
    await undo();
    throw error;
  }
  // If `completePiece` rejects, the piece may have been counted. It stays, and the client asks for the offset.
  if (!(await uploads.completePiece(id, { name, start, size }))) {
    await undo();
    throw createUploadLockedFailure();
  }
  return size;
}

/** Reads the bytes of an upload from its pieces, in order and on demand. */
export async function* joinUploadPieces(
  location: StorageLocation,
  pieces: readonly UploadPiece[],
): AsyncGenerator<Uint8Array> {
  for (const { name, size } of pieces) {
    const opened = await location.open(name);
    if (!opened) throw createMissingBytesFailure(`there is no object ${name}`);
    if (opened.size !== size) {
      opened.bytes.destroy();
      throw createMissingBytesFailure(`the object ${name} has ${opened.size} bytes and not ${size}`);
    }
    yield* opened.bytes;
  }
}

/** Answers the pieces that are stored. @throws INTERNAL_SERVER_ERROR if they do not join to `size` bytes. */
export function assertUploadPiecesComplete(pieces: readonly UploadPiece[], size: number): readonly UploadPiece[] {
  const whole = pieces.filter((piece) => piece.size !== null);
  let end = 0;
  for (const piece of whole) {
    if (piece.start !== end)
      throw createMissingBytesFailure(`an upload has ${end} bytes, and then a piece that begins at ${piece.start}`);
    end += piece.size as number;
  }
  if (end !== size) throw createMissingBytesFailure(`an upload of ${size} bytes has pieces of ${end}`);
  return whole;
}

const createMissingBytesFailure = (detail: string) => fail('INTERNAL_SERVER_ERROR', detail);

/** Removes the objects of an upload, which may be gone already, and their rows. */
export async function removeUploadPieces({ uploads, location }: Omit<Deps, 'log'>, id: string): Promise<void> {
  const names = (await uploads.pieces(id)).map(({ name }) => name);
  for (const name of names) await location.remove(name);
  if (names.length > 0) await uploads.forgetPieces(names);
}

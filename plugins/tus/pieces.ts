import { fail, type Log } from '#kernel';
import type { Location } from '../storage/contract.ts';
import { cut } from './cut.ts';
import { locked } from './failures.ts';
import type { Piece, Uploads } from './uploads.ts';

interface Deps {
  readonly uploads: Uploads;
  readonly location: Location;
  readonly log: Pick<Log, 'warn'>;
}

/**
 * Keeps what comes from `start` on, in pieces of at most `limit` bytes, and answers where the upload ends now. Each piece
 * counts as soon as it is safe, so whatever breaks off costs the client the last one at most; where a client leaves, its bytes
 * simply end here, and the last piece is as long as what arrived.
 */
export async function receive(
  deps: Deps,
  id: string,
  start: number,
  bytes: AsyncIterable<Uint8Array>,
  limit: number,
): Promise<number> {
  let end = start;
  for await (const part of cut(bytes, limit)) end += await receivePiece(deps, id, end, part);
  return end;
}

async function receivePiece(
  { uploads, location, log }: Deps,
  id: string,
  start: number,
  bytes: AsyncIterable<Uint8Array>,
): Promise<number> {
  const name = await uploads.begin(id, start);
  const undo = async (): Promise<void> => {
    try {
      await location.remove(name);
      await uploads.forget([name]);
    } catch (error) {
      // Its name stands in the table: it goes with the upload.
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
  // Where this fails nobody knows whether the piece counts. It stays, and the client asks how much is here.
  if (!(await uploads.keep(id, { name, start, size }))) {
    await undo();
    throw locked();
  }
  return size;
}

/** The bytes of an upload from first to last. Nothing is read before it is asked for. */
export async function* joined(location: Location, pieces: readonly Piece[]): AsyncGenerator<Uint8Array> {
  for (const { name, size } of pieces) {
    const opened = await location.open(name);
    if (!opened) throw missing(`there is no object ${name}`);
    if (opened.size !== size) {
      opened.bytes.destroy();
      throw missing(`the object ${name} has ${opened.size} bytes and not ${size}`);
    }
    yield* opened.bytes;
  }
}

/** Those that count, of which there must be enough to make `size` bytes. */
export function wholePieces(pieces: readonly Piece[], size: number): readonly Piece[] {
  const whole = pieces.filter((piece) => piece.size !== null);
  let end = 0;
  for (const piece of whole) {
    if (piece.start !== end)
      throw missing(`an upload has ${end} bytes, and then a piece that begins at ${piece.start}`);
    end += piece.size as number;
  }
  if (end !== size) throw missing(`an upload of ${size} bytes has pieces of ${end}`);
  return whole;
}

const missing = (detail: string) => fail('INTERNAL_SERVER_ERROR', detail);

/** Removes an upload's objects, which may be gone already, and what is known of them. */
export async function removePieces({ uploads, location }: Omit<Deps, 'log'>, id: string): Promise<void> {
  const names = (await uploads.pieces(id)).map(({ name }) => name);
  for (const name of names) await location.remove(name);
  if (names.length > 0) await uploads.forget(names);
}

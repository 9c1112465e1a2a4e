import { randomBytes } from 'node:crypto';
import type { Db } from '../database/contract.ts';
import { uploadStatements } from './upload-statements.ts';

export interface ResumableUpload {
  readonly id: string;
  /** The user that began the upload; null without signing in. */
  readonly user: string | null;
  readonly storage: string;
  /** Upload-Metadata as it was sent. */
  readonly metadata: string;
  /** Bytes of the whole upload; null as long as the client does not know the size. */
  readonly size: number | null;
  readonly received: number;
  /** The file to replace; null for a new file. */
  readonly replaces: string | null;
  /** The file exists, and the pieces are removed or about to be. */
  readonly completed: boolean;
  readonly expires: Date;
}

export interface UploadPiece {
  readonly name: string;
  readonly start: number;
  /** Bytes of the piece; null until it is stored. */
  readonly size: number | null;
}

/** Whether all bytes of an upload have arrived. */
export const hasReceivedAllBytes = ({ size, received }: Pick<ResumableUpload, 'size' | 'received'>): boolean =>
  size === received;

/** Access to the two tables of uploads. `now`: milliseconds since 1970. */
export interface UploadRepository {
  add(upload: Omit<ResumableUpload, 'received' | 'completed' | 'expires'>): Promise<void>;
  find(id: string): Promise<ResumableUpload | undefined>;
  /** Sets the size of an upload; false if it was known already. */
  declareSize(id: string, size: number): Promise<boolean>;
  /** Records the next piece before it is written, so that no piece is in storage without a row. Answers its object name. */
  beginPiece(id: string, start: number): Promise<string>;
  /** Adds a stored piece to the received bytes; false if the upload has moved on or was removed. */
  completePiece(id: string, piece: Required<UploadPiece> & { readonly size: number }): Promise<boolean>;
  /** Deletes the rows of pieces that are no longer in storage. */
  forgetPieces(names: readonly string[]): Promise<void>;
  /** All pieces in order, incomplete ones included. */
  pieces(id: string): Promise<readonly UploadPiece[]>;
  complete(id: string): Promise<void>;
  remove(id: string): Promise<void>;
  expired(now: number): Promise<readonly string[]>;
  /** True if the file of the upload exists. `by`: the caller. Another user may have created another file with the id. */
  hasFile(upload: ResumableUpload, by: string | null): Promise<boolean>;
}

interface Row extends Omit<ResumableUpload, 'size' | 'received'> {
  readonly size: string | null;
  readonly received: string;
}

/** Creates the access to uploads in the database. `lifetime`: milliseconds that an upload is kept after its last change. */
export function createUploadRepository(
  db: Pick<Db, 'query' | 'read' | 'write' | 'sql'>,
  lifetime: number,
  now: () => number = Date.now,
): UploadRepository {
  const text = uploadStatements(db);
  const expires = () => new Date(now() + lifetime);

  return {
    async add({ id, user, storage, metadata, size, replaces }) {
      await db.query(text.ADD, [id, user, storage, metadata, size, replaces, expires()]);
    },

    async find(id) {
      const { rows } = await db.query<Row>(text.FIND, [id], { name: 'tus_find' });
      const [row] = rows;
      return row && { ...row, size: numberOf(row.size), received: Number(row.received) };
    },

    declareSize: async (id, size) => (await db.query(text.DECLARE_SIZE, [id, size])).count === 1,

    async beginPiece(id, start) {
      const name = `${id}.part-${randomBytes(8).toString('hex')}`;
      await db.query(text.BEGIN, [name, id, start], { name: 'tus_begin' });
      return name;
    },

    async completePiece(id, { name, start, size }) {
      const { count } = await db.query(text.KEEP, [id, name, start, size, expires()], { name: 'tus_keep' });
      return count === 1;
    },

    async forgetPieces(names) {
      await db.query(text.FORGET, [names]);
    },

    async pieces(id) {
      const { rows } = await db.query<{ name: string; start: string; size: string | null }>(text.PIECES, [id]);
      return rows.map(({ name, start, size }) => ({ name, start: Number(start), size: numberOf(size) }));
    },

    async complete(id) {
      await db.query(text.COMPLETE, [id, expires()]);
    },

    async remove(id) {
      await db.query(text.REMOVE, [id]);
    },

    expired: async (at) => (await db.query<{ id: string }>(text.EXPIRED, [new Date(at)])).rows.map(({ id }) => id),

    hasFile: async ({ id, size, user }, by) => (await db.query(text.IS_MADE, [id, size, user, by])).rows.length > 0,
  };
}

const numberOf = (value: string | null): number | null => (value === null ? null : Number(value));

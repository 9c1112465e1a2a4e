import { randomBytes } from 'node:crypto';
import type { Db } from '../database/contract.ts';
import { uploadStatements } from './upload-statements.ts';

export interface Upload {
  readonly id: string;
  /** Who began it; null: somebody who is not signed in. */
  readonly user: string | null;
  readonly storage: string;
  /** Upload-Metadata as it was sent. */
  readonly metadata: string;
  /** Null as long as the client does not know it. */
  readonly size: number | null;
  readonly received: number;
  /** The file that gets the bytes; null: a new one. */
  readonly replaces: string | null;
  /** The file is there, and the pieces are gone or about to go. */
  readonly completed: boolean;
  readonly expires: Date;
}

export interface Piece {
  readonly name: string;
  readonly start: number;
  /** Null where not all of it was kept. */
  readonly size: number | null;
}

/** Have all bytes come? */
export const isWhole = ({ size, received }: Pick<Upload, 'size' | 'received'>): boolean => size === received;

/** What is known of uploads, in two tables that all processes share. `now` is milliseconds since 1970. */
export interface Uploads {
  add(upload: Omit<Upload, 'received' | 'completed' | 'expires'>): Promise<void>;
  find(id: string): Promise<Upload | undefined>;
  /** False where the size was known before. */
  declareSize(id: string, size: number): Promise<boolean>;
  /** Names the next piece before there is anything of it, so that none is ever in storage without being known here. */
  begin(id: string, start: number): Promise<string>;
  /** All of the piece is in storage, so the upload is longer by it; false where the upload has moved on or has gone. */
  keep(id: string, piece: Required<Piece> & { readonly size: number }): Promise<boolean>;
  /** There is nothing of it in storage any more. */
  forget(names: readonly string[]): Promise<void>;
  /** In their order, those that are not whole included. */
  pieces(id: string): Promise<readonly Piece[]>;
  complete(id: string): Promise<void>;
  remove(id: string): Promise<void>;
  expired(now: number): Promise<readonly string[]>;
  /** Is there the file that is to be made of it? `by`: who asks. Under its id somebody may have made another one. */
  isMade(upload: Upload, by: string | null): Promise<boolean>;
}

interface Row extends Omit<Upload, 'size' | 'received'> {
  readonly size: string | null;
  readonly received: string;
}

/** `lifetime`: milliseconds an upload is kept after the last change of it. */
export function createUploads(
  db: Pick<Db, 'query' | 'read' | 'write' | 'sql'>,
  lifetime: number,
  now: () => number = Date.now,
): Uploads {
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

    async begin(id, start) {
      const name = `${id}.part-${randomBytes(8).toString('hex')}`;
      await db.query(text.BEGIN, [name, id, start], { name: 'tus_begin' });
      return name;
    },

    async keep(id, { name, start, size }) {
      const { count } = await db.query(text.KEEP, [id, name, start, size, expires()], { name: 'tus_keep' });
      return count === 1;
    },

    async forget(names) {
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

    isMade: async ({ id, size, user }, by) => (await db.query(text.IS_MADE, [id, size, user, by])).rows.length > 0,
  };
}

const numberOf = (value: string | null): number | null => (value === null ? null : Number(value));

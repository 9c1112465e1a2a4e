import { randomBytes } from 'node:crypto';
import { type Db, identifier } from '../database/contract.ts';

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
  db: Pick<Db, 'query' | 'schemas'>,
  lifetime: number,
  now: () => number = Date.now,
): Uploads {
  const table = (name: string) => `${identifier(db.schemas[0] as string)}.platform_${name}`;
  const expires = () => new Date(now() + lifetime);

  return {
    async add({ id, user, storage, metadata, size, replaces }) {
      await db.query(
        `insert into ${table('uploads')} (id, "user", storage, metadata, size, replaces, expires)
        values ($1, $2, $3, $4, $5, $6, $7)`,
        [id, user, storage, metadata, size, replaces, expires()],
      );
    },

    async find(id) {
      const { rows } = await db.query<Row>(
        `select id, "user", storage, metadata, size, received, replaces, completed, expires
        from ${table('uploads')} where id = $1`,
        [id],
        { name: 'tus_find' },
      );
      const [row] = rows;
      return row && { ...row, size: numberOf(row.size), received: Number(row.received) };
    },

    async declareSize(id, size) {
      const { count } = await db.query(
        `update ${table('uploads')} set size = $2 where id = $1 and size is null and received <= $2`,
        [id, size],
      );
      return count === 1;
    },

    async begin(id, start) {
      const name = `${id}.part-${randomBytes(8).toString('hex')}`;
      await db.query(
        `insert into ${table('upload_pieces')} (name, upload, start) values ($1, $2, $3)`,
        [name, id, start],
        { name: 'tus_begin' },
      );
      return name;
    },

    async keep(id, { name, start, size }) {
      // One statement, in which the upload comes first: where it is not as long as it was when the piece began (somebody
      // else got the lock meanwhile), nothing changes.
      const { count } = await db.query(
        `with moved as (
          update ${table('uploads')} set received = $3::int8 + $4::int8, expires = $5
          where id = $1 and received = $3 and not completed
            and exists (select from ${table('upload_pieces')} where name = $2 and size is null)
          returning 1
        )
        update ${table('upload_pieces')} set size = $4 from moved where name = $2`,
        [id, name, start, size, expires()],
        { name: 'tus_keep' },
      );
      return count === 1;
    },

    async forget(names) {
      await db.query(`delete from ${table('upload_pieces')} where name = any($1::text[])`, [names]);
    },

    async pieces(id) {
      const { rows } = await db.query<{ name: string; start: string; size: string | null }>(
        `select name, start, size from ${table('upload_pieces')} where upload = $1 order by start, size nulls first`,
        [id],
      );
      return rows.map(({ name, start, size }) => ({ name, start: Number(start), size: numberOf(size) }));
    },

    async complete(id) {
      await db.query(`update ${table('uploads')} set completed = true, expires = $2 where id = $1`, [id, expires()]);
    },

    async remove(id) {
      await db.query(`delete from ${table('uploads')} where id = $1`, [id]);
    },

    async expired(at) {
      const { rows } = await db.query<{ id: string }>(
        `select id from ${table('uploads')} where expires < $1 order by expires`,
        [new Date(at)],
      );
      return rows.map(({ id }) => id);
    },

    async isMade({ id, size, user }, by) {
      const { rows } = await db.query(
        `select from ${table('files')} where id = $1 and filename_disk is not null and filesize = $2
          and (uploaded_by is not distinct from $3 or uploaded_by is not distinct from $4)`,
        [id, size, user, by],
      );
      return rows.length > 0;
    },
  };
}

const numberOf = (value: string | null): number | null => (value === null ? null : Number(value));

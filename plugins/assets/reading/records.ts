import type { Bus } from '../../cluster/contract.ts';
import { createAnnouncedCache } from '../../cluster/library.ts';
import type { Db } from '../../database/contract.ts';
import type { GrantedCondition } from '../../query/contract.ts';
import type { FileRecord } from '../variant.ts';
import { CHANGED } from './announcement.ts';

const REMEMBERED = 10_000;

/** As the driver reads it: bigint is a text. */
type Row = Omit<FileRecord, 'filename_disk' | 'filesize'> & {
  readonly filename_disk: string | null;
  readonly filesize: string | null;
};

/** The records of files that have bytes, by their ids. */
export interface Records {
  /** For callers who may read every file: from memory until some file changes anywhere. */
  get(id: string): Promise<FileRecord | undefined>;
  /** From the database, where the row is one of those that a condition over `t` (its parameters start at 2) allows. */
  under(id: string, condition: GrantedCondition): Promise<FileRecord | undefined>;
  forget(): void;
  forgetOne(id: string): void;
}

export function createRecords(db: Pick<Db, 'query' | 'read' | 'sql'>, bus: Bus): Records {
  const RECORD = db.sql`select t.id, t.storage, t.filename_disk, t.filename_download, t.type, t.charset, t.detected_type, t.filesize,
      t.width, t.height, t.duration, t.modified_on, t.focal_point_x, t.focal_point_y
    from ${db.read('platform_files')} t where t.id = $1 and t.filename_disk is not null`;

  const known = createAnnouncedCache<FileRecord | undefined>({
    bus,
    channel: CHANGED,
    max: REMEMBERED,
    async read(id) {
      const { rows } = await db.query<Row>(RECORD, [id], { name: 'assets_record' });
      // New files are not announced, so that a file is missing is not kept.
      return { value: rows[0] && recordOf(rows[0]), settled: rows[0] !== undefined };
    },
  });

  return {
    get: known.get,
    async under(id, { where, params }) {
      const { rows } = await db.query<Row>(db.sql`${RECORD} and (${where})`, [id, ...params]);
      return rows[0] && recordOf(rows[0]);
    },
    forget: () => known.forget(),
    forgetOne: (id) => known.forget(id),
  };
}

const recordOf = (row: Row): FileRecord => ({
  ...row,
  filename_disk: row.filename_disk as string,
  filesize: row.filesize === null ? null : Number(row.filesize),
});

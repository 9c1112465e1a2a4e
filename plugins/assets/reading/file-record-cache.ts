import type { InterProcessBus } from '../../cluster/contract.ts';
import { createAnnouncedCache } from '../../cluster/library.ts';
import type { Db } from '../../database/contract.ts';
import type { TrustedSqlCondition } from '../../query/contract.ts';
import type { FileRecord } from '../variant.ts';
import { FILES_CHANNEL } from './file-change-triggers.ts';

const MAX_RECORDS = 10_000;

/** A row of `platform_files` as the PostgreSQL driver returns it: bigint is text. */
type RecordRow = Omit<FileRecord, 'filename_disk' | 'filesize'> & {
  readonly filename_disk: string | null;
  readonly filesize: string | null;
};

/** Records of files that have bytes, by id. */
export interface FileRecordReader {
  /** The record of a file, for callers who may read every file. Cached until any file changes in any process. */
  get(id: string): Promise<FileRecord | undefined>;
  /** Reads a record from the database if its row satisfies the condition on the alias `t`, whose parameters start at 2. */
  findAllowed(id: string, condition: TrustedSqlCondition): Promise<FileRecord | undefined>;
  forget(): void;
  forgetOne(id: string): void;
}

export function createFileRecordReader(db: Pick<Db, 'query' | 'read' | 'sql'>, bus: InterProcessBus): FileRecordReader {
  const SELECT_RECORD = db.sql`select t.id, t.storage, t.filename_disk, t.filename_download, t.type, t.charset, t.detected_type, t.filesize,
      t.width, t.height, t.duration, t.modified_on, t.focal_point_x, t.focal_point_y
    from ${db.read('platform_files')} t where t.id = $1 and t.filename_disk is not null`;

  const cache = createAnnouncedCache<FileRecord | undefined>({
    bus,
    channel: FILES_CHANNEL,
    max: MAX_RECORDS,
    async read(id) {
      const { rows } = await db.query<RecordRow>(SELECT_RECORD, [id], { name: 'assets_record' });
      // Inserts are not announced, so a missing file is not cached.
      return { value: rows[0] && toRecord(rows[0]), cacheable: rows[0] !== undefined };
    },
  });

  return {
    get: cache.get,
    async findAllowed(id, { where, params }) {
      const { rows } = await db.query<RecordRow>(db.sql`${SELECT_RECORD} and (${where})`, [id, ...params]);
      return rows[0] && toRecord(rows[0]);
    },
    forget: () => cache.forget(),
    forgetOne: (id) => cache.forget(id),
  };
}

const toRecord = (row: RecordRow): FileRecord => ({
  ...row,
  filename_disk: row.filename_disk as string,
  filesize: row.filesize === null ? null : Number(row.filesize),
});

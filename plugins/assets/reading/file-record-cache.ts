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

export type FileRecordInFolder = FileRecord & { readonly folder: string };

/** Records of files that have bytes, by id. */
export interface FileRecordReader {
  /** The record of a file, for callers who may read every file. Cached until any file changes in any process. */
  get(id: string): Promise<FileRecord | undefined>;
  /** Reads a record from the database if its row satisfies the condition on the alias `t`, whose parameters start at 2. */
  findAllowed(id: string, condition: TrustedSqlCondition): Promise<FileRecord | undefined>;
  /** The records of these files whose rows satisfy the condition, in any order. */
  findManyAllowed(ids: readonly string[], condition: TrustedSqlCondition): Promise<readonly FileRecord[]>;
  /** The records of files in these folders whose rows satisfy the condition, by folder and name, `limit` of them at most. */
  findInFolders(
    folders: readonly string[],
    condition: TrustedSqlCondition,
    limit: number,
  ): Promise<readonly FileRecordInFolder[]>;
  forget(): void;
  forgetOne(id: string): void;
}

export function createFileRecordReader(db: Pick<Db, 'query' | 'read' | 'sql'>, bus: InterProcessBus): FileRecordReader {
  const COLUMNS = db.sql`t.id, t.storage, t.filename_disk, t.filename_download, t.type, t.charset, t.detected_type, t.filesize,
      t.width, t.height, t.duration, t.modified_on, t.focal_point_x, t.focal_point_y`;
  const FROM = db.sql`from ${db.read('platform_files')} t`;
  const HAS_BYTES = db.sql`and t.filename_disk is not null`;
  const SELECT_RECORD = db.sql`select ${COLUMNS} ${FROM} where t.id = $1 ${HAS_BYTES}`;
  const SELECT_RECORDS = db.sql`select ${COLUMNS} ${FROM} where t.id = any($1::uuid[]) ${HAS_BYTES}`;
  // One parameter for both values, since those of the condition begin at 2.
  const SELECT_IN_FOLDERS = db.sql`select ${COLUMNS}, t.folder ${FROM}
    where t.folder = any(array(select jsonb_array_elements_text($1::jsonb -> 'folders'))::uuid[]) ${HAS_BYTES}`;

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
    async findManyAllowed(ids, { where, params }) {
      const { rows } = await db.query<RecordRow>(db.sql`${SELECT_RECORDS} and (${where})`, [ids, ...params]);
      return rows.map(toRecord);
    },
    async findInFolders(folders, { where, params }, limit) {
      const { rows } = await db.query<RecordRow & { readonly folder: string }>(
        db.sql`${SELECT_IN_FOLDERS} and (${where}) order by t.folder, t.filename_download, t.id limit ($1::jsonb ->> 'limit')::int`,
        [JSON.stringify({ folders, limit }), ...params],
      );
      return rows.map((row) => ({ ...toRecord(row), folder: row.folder }));
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

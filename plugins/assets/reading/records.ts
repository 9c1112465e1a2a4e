import { LRUCache } from 'lru-cache';
import type { Bus } from '../../cluster/contract.ts';
import { type Db, identifier } from '../../database/contract.ts';
import type { Condition } from '../../query/contract.ts';
import type { FileRecord } from '../variant.ts';
import { CHANGED } from './announcement.ts';

const REMEMBERED = 10_000;

// biome-ignore format: a list of names
const COLUMNS = [
  'id', 'storage', 'filename_disk', 'filename_download', 'type', 'charset', 'detected_type', 'filesize', 'width', 'height', 'duration',
  'modified_on', 'focal_point_x', 'focal_point_y',
] as const;

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
  under(id: string, condition: Condition): Promise<FileRecord | undefined>;
  forget(): void;
  forgetOne(id: string): void;
}

export function createRecords(db: Pick<Db, 'query' | 'schemas'>, bus: Bus): Records {
  let known = new LRUCache<string, FileRecord>({ max: REMEMBERED });
  const forget = () => {
    known = new LRUCache({ max: REMEMBERED });
  };
  bus.subscribe(CHANGED, forget);
  bus.onGap(forget);

  const columns = COLUMNS.map((name) => `t.${name}`).join(', ');
  const statement = () =>
    `select ${columns} from ${identifier(db.schemas[0] as string)}.platform_files t where t.id = $1 and t.filename_disk is not null`;

  return {
    async get(id) {
      const remembered = known.get(id);
      if (remembered) return remembered;
      // What is found out now is worth nothing once somebody says "changed" in between.
      const asked = known;
      const { rows } = await db.query<Row>(statement(), [id], { name: 'assets_record' });
      const record = rows[0] && recordOf(rows[0]);
      if (record) asked.set(id, record);
      return record;
    },
    async under(id, { text, params }) {
      const { rows } = await db.query<Row>(`${statement()} and (${text})`, [id, ...params]);
      return rows[0] && recordOf(rows[0]);
    },
    forget,
    forgetOne: (id) => void known.delete(id),
  };
}

const recordOf = (row: Row): FileRecord => ({
  ...row,
  filename_disk: row.filename_disk as string,
  filesize: row.filesize === null ? null : Number(row.filesize),
});

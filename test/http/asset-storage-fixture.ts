import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FreshDatabase } from '../support/database.ts';

/** A folder for the storage location `local`. `file` writes an object and its row of `platform_files` without an upload. */
export interface AssetStorageFixture {
  readonly root: string;
  readonly env: Readonly<Record<string, string>>;
  /** Answers the id of the new file. `columns` override the columns of its row; with bytes null the row has no object. */
  file(
    database: FreshDatabase,
    bytes: Buffer | string | null,
    columns?: Readonly<Record<string, unknown>>,
  ): Promise<string>;
  remove(): Promise<void>;
}

export async function createAssetStorageFixture(): Promise<AssetStorageFixture> {
  const root = await mkdtemp(join(tmpdir(), 'tenon-assets-'));
  return {
    root,
    env: { STORAGE_LOCAL_ROOT: root },
    async file(database, bytes, columns = {}) {
      const id = randomUUID();
      const row: Record<string, unknown> = {
        id,
        storage: 'local',
        filename_disk: bytes === null ? null : `${id}.bin`,
        filename_download: 'file.bin',
        type: 'application/octet-stream',
        filesize: bytes === null ? null : Buffer.byteLength(bytes),
        modified_on: new Date(),
        ...columns,
      };
      if (bytes !== null) await writeFile(join(root, String(row.filename_disk)), bytes);
      const names = Object.keys(row);
      await database.query(
        `insert into platform_files (${names.join(', ')}) values (${names.map((_, at) => `$${at + 1}`).join(', ')})`,
        Object.values(row),
      );
      return id;
    },
    remove: () => rm(root, { recursive: true, force: true }),
  };
}

import { announcing } from '../../cluster/library.ts';
import type { Db, Migration } from '../../database/contract.ts';

export const CHANGED = 'assets.files';

/** Tells every process when files change, whoever changes them. New ones need no word: nobody remembers what is not there. */
export const announceFiles = (db: Db): Migration =>
  announcing({
    id: '2026-11-22-announce-files',
    name: 'platform_assets_changed',
    channel: CHANGED,
    tables: [db.watch('platform_files')],
    on: db.sql`update or delete or truncate`,
  });

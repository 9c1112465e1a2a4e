import { createChangeNotificationMigration } from '../../cluster/library.ts';
import type { Db, Migration } from '../../database/contract.ts';

export const FILES_CHANNEL = 'assets.files';

/** Triggers that notify every process when files change, also by SQL. Inserts need none: missing files are not cached. */
export const fileChangeTriggers = (db: Db): Migration =>
  createChangeNotificationMigration({
    id: '2026-11-22-announce-files',
    name: 'platform_assets_changed',
    channel: FILES_CHANNEL,
    tables: [db.watch('platform_files')],
    on: db.sql`update or delete or truncate`,
  });

export { createAnnouncedCache } from './announced-cache.ts';
export { createChangeNotificationMigration } from './announcement-migration.ts';
export { coalesceConcurrentCalls } from './coalesce-calls.ts';
export { createNotifyStatement, NOTIFY_CHANNEL, notifySql } from './notify-sql.ts';

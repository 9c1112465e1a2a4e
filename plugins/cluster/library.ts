export { createAnnouncedCache } from './announced-cache.ts';
export { createAnnouncementMigration } from './announcement-migration.ts';
export { coalesce } from './coalesce.ts';
export { notifySql, notifyStatement } from './notify-sql.ts';

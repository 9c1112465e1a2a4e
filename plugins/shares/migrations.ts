import { createChangeNotificationMigration } from '../cluster/library.ts';
import type { Db, Migration } from '../database/contract.ts';
import { SHARES_COLLECTION } from './collections.ts';

/** The bus channel on which a changed or deleted share is announced. */
export const SHARES_CHANGED_CHANNEL = 'shares.changed';

export const shareMigrations = (db: Db): readonly Migration[] => [announceShares(db), endSessionsWithShare(db)];

/** A use of a share changes `times_used` alone and is not announced. */
const announceShares = (db: Db): Migration =>
  createChangeNotificationMigration({
    id: '2026-11-26-announce-shares',
    name: 'platform_shares_changed',
    channel: SHARES_CHANGED_CHANNEL,
    tables: [db.own(SHARES_COLLECTION)],
    on: db.sql`insert or update of collection, item, role, date_start, date_end or delete or truncate`,
  });

/** A trigger ends the sessions of a deleted share, whatever deletes it: also the deletion of its role, and SQL. */
function endSessionsWithShare(db: Db): Migration {
  const shares = db.own(SHARES_COLLECTION);
  const run = db.sql`${db.name(db.schemas[0] as string)}.platform_shares_end_sessions()`;
  return {
    id: '2026-11-26-end-sessions-of-shares',
    async up() {
      await db.ddl(db.sql`create or replace function ${run} returns trigger language plpgsql as $$
      begin
        delete from ${db.write('platform_sessions')} where share = old.id;
        return null;
      end $$`);
      await db.ddl(db.sql`drop trigger if exists platform_shares_end_sessions on ${shares}`);
      await db.ddl(db.sql`create trigger platform_shares_end_sessions after delete on ${shares}
      for each row execute function ${run}`);
    },
  };
}

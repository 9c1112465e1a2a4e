import type { GrantedSqlStatement, Migration, TableHandle } from '../database/contract.ts';
import { createNotifyStatement } from './notify-sql.ts';

interface Announcement {
  /** Id of the migration. */
  readonly id: string;
  /** Name of the triggers and of their function. */
  readonly name: string;
  readonly channel: string;
  /** The tables whose changes are announced: handles of `db.watch`, or of `db.own` where the plugin owns the table. */
  readonly tables: readonly TableHandle[];
  /** The trigger events; all changes by default. */
  readonly on?: GrantedSqlStatement;
  /** Ids of migrations that this one replaces, and the name of their triggers, which are dropped. */
  readonly replaces?: { readonly ids: readonly string[]; readonly name: string };
}

/**
 * Migration with triggers that publish null on a channel of the bus when a statement that changed one of the tables commits. All
 * processes receive it, also for changes by other database clients.
 */
export const createChangeNotificationMigration = ({
  id,
  name,
  channel,
  tables,
  on,
  replaces,
}: Announcement): Migration => ({
  id,
  ...(replaces ? { replaces: replaces.ids } : {}),
  async up(db) {
    const inSchema = (called: string) => db.sql`${db.name(db.schemas[0] as string)}.${db.name(called)}()`;
    if (replaces) await db.ddl(db.sql`drop function if exists ${inSchema(replaces.name)} cascade`);
    const called = db.name(name);
    const run = inSchema(name);
    await db.ddl(db.sql`create or replace function ${run} returns trigger language plpgsql as $$
      begin
        ${createNotifyStatement(db, channel)};
        return null;
      end $$`);
    for (const table of tables) {
      await db.ddl(db.sql`drop trigger if exists ${called} on ${table}`);
      await db.ddl(
        db.sql`create trigger ${called} after ${on ?? db.sql`insert or update or delete or truncate`} on ${table} for each statement execute function ${run}`,
      );
    }
  },
});

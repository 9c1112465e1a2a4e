import type { Migration, Statement, Table } from '../database/contract.ts';
import { notifyStatement } from './notify-sql.ts';

interface Announcement {
  /** Of the migration. */
  readonly id: string;
  /** Of the triggers and of their function. */
  readonly name: string;
  readonly channel: string;
  /** From `db.watch`, or from `db.own` where the plugin owns them. */
  readonly tables: readonly Table[];
  /** What is announced; any change where it says nothing. */
  readonly on?: Statement;
}

/**
 * Triggers that publish null on a channel of the bus when a statement that changed one of the tables commits: every process
 * hears of it, whoever made the change, this service or somebody by hand.
 */
export const announcing = ({ id, name, channel, tables, on }: Announcement): Migration => ({
  id,
  async up(db) {
    const called = db.name(name);
    const run = db.sql`${db.name(db.schemas[0] as string)}.${called}()`;
    await db.ddl(db.sql`create or replace function ${run} returns trigger language plpgsql as $$
      begin
        ${notifyStatement(db, channel)};
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

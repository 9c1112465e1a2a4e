import { identifier, type Migration } from '../database/contract.ts';
import { notifySql } from './notify-sql.ts';

interface Announcement {
  /** Of the migration. */
  readonly id: string;
  /** Of the triggers and of their function. */
  readonly name: string;
  readonly channel: string;
  /** Of the service's own. */
  readonly tables: readonly string[];
  /** What is announced; any change where it says nothing. */
  readonly on?: string;
}

/**
 * Triggers that publish null on a channel of the bus when a statement that changed one of the tables commits: every process
 * hears of it, whoever made the change, this service or somebody by hand.
 */
export const announcing = ({ id, name, channel, tables, on = ANY }: Announcement): Migration => ({
  id,
  async up(db) {
    const schema = identifier(db.schemas[0] as string);
    const called = identifier(name);
    await db.query(`create or replace function ${schema}.${called}() returns trigger language plpgsql as $$
      begin
        ${notifySql(channel)};
        return null;
      end $$`);
    for (const table of tables) {
      await db.query(`drop trigger if exists ${called} on ${schema}.${identifier(table)}`);
      await db.query(`create trigger ${called} after ${on}
        on ${schema}.${identifier(table)} for each statement execute function ${schema}.${called}()`);
    }
  },
});

const ANY = 'insert or update or delete or truncate';

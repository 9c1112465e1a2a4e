import type { Db, Migration } from '../database/contract.ts';

/**
 * Creates the tables of the feed. They are unlogged: after a crash of PostgreSQL every process watches its tables anew, and messages of
 * before are void.
 */
export const createFeedTables = (db: Db): Migration => ({
  id: '2026-11-27-row-feed',
  async up() {
    const [messages, watches] = [db.own('platform_row_feed_messages'), db.own('platform_row_feed_watches')];
    await db.ddl(db.sql`create unlogged table ${messages}
      (id text primary key, content text not null, at timestamptz not null default clock_timestamp())`);
    await db.ddl(db.sql`create unlogged table ${watches}
      (process uuid, relation oid, old_rows boolean not null, primary key (process, relation))`);
    // Owned by the table, so that it is dropped with it.
    const ids = db.sql`${db.name(db.schemas[0] as string)}.platform_row_feed_ids`;
    await db.ddl(db.sql`create sequence ${ids} cache 32`);
    await db.ddl(db.sql`alter sequence ${ids} owned by ${messages}.id`);
  },
});

/**
 * An object is a row, and its bytes are rows of their own. An object exists once it has a time in `modified`; until
 * then it is being written. Names compare by their bytes ("C"), so that names with one prefix are adjacent. The prefix
 * `platform_` keeps the tables out of the collections that the service offers.
 */
export function tables(db) {
  const objects = db.own('platform_stored_objects');
  const chunks = db.own('platform_stored_chunks');
  return {
    id: '2026-11-22-tables',
    async up() {
      await db.ddl(db.sql`create table ${objects} (
      id uuid primary key,
      location text not null,
      name text collate "C" not null,
      type text,
      size bigint,
      begun timestamptz not null default now(),
      modified timestamptz,
      check ((modified is null) = (size is null)))`);
      await db.ddl(db.sql`create unique index on ${objects} (location, name) where modified is not null`);
      await db.ddl(db.sql`create index on ${objects} (location, name) where modified is null`);
      await db.ddl(db.sql`create table ${chunks} (
      object uuid not null references ${objects} on delete cascade,
      part integer not null,
      bytes bytea not null,
      primary key (object, part))`);
      // Images and videos are already compressed, so compression by PostgreSQL only costs time.
      await db.ddl(db.sql`alter table ${chunks} alter column bytes set storage external`);
    },
  };
}

import type { Db, Migration } from '../database/contract.ts';

/**
 * Folders are a tree: no folder contains itself, directly or through folders below. A trigger checks this after the
 * statement, since nested payloads move several folders at once, and two concurrent requests that move folders into
 * each other do not see each other's rows. A lock therefore lets only one transaction at a time move folders.
 */
export function createFolderTreeTriggerMigration(db: Db): Migration {
  const folders = db.own('platform_folders');
  const run = db.sql`${db.name(db.schemas[0] as string)}.platform_folders_tree()`;
  return {
    id: '2026-11-21-keep-tree',
    async up() {
      await db.ddl(db.sql`create or replace function ${run} returns trigger language plpgsql as $$
      begin
        if tg_level = 'STATEMENT' then
          perform pg_advisory_xact_lock(hashtext('platform_folders.parent'));
        elsif exists (
          with recursive above (id, parent) as (
            select f.id, f.parent from ${folders} f where f.id = new.parent
            union
            select f.id, f.parent from ${folders} f join above on f.id = above.parent
          )
          select from above where above.id = new.id
        ) then
          raise exception 'A folder cannot be in itself or in a folder below it.' using constraint = 'platform_folders_tree';
        end if;
        return null;
      end $$`);
      await db.ddl(db.sql`drop trigger if exists platform_folders_tree_lock on ${folders}`);
      await db.ddl(db.sql`drop trigger if exists platform_folders_tree on ${folders}`);
      await db.ddl(db.sql`create trigger platform_folders_tree_lock before insert or update of parent on ${folders}
      for each statement execute function ${run}`);
      await db.ddl(db.sql`create trigger platform_folders_tree after insert or update of parent on ${folders}
      for each row when (new.parent is not null) execute function ${run}`);
    },
  };
}

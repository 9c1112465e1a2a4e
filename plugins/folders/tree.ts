import { identifier, type Migration } from '../database/contract.ts';

/**
 * Folders make a tree: none lies in itself, or in one below it. Held by the database, since what matters is how things
 * stand after a statement: nested payloads move several folders at once, and two requests that move folders into each
 * other at the same moment see nothing of one another. So whoever moves folders waits for those who do.
 */
export const keepTree: Migration = {
  id: '2026-11-21-keep-tree',
  async up(db) {
    const schema = identifier(db.schemas[0] as string);
    const table = `${schema}.platform_folders`;
    await db.query(`create or replace function ${schema}.platform_folders_tree() returns trigger language plpgsql as $$
      begin
        if tg_level = 'STATEMENT' then
          perform pg_advisory_xact_lock(hashtext('platform_folders.parent'));
        elsif exists (
          with recursive above (id, parent) as (
            select f.id, f.parent from ${table} f where f.id = new.parent
            union
            select f.id, f.parent from ${table} f join above on f.id = above.parent
          )
          select from above where above.id = new.id
        ) then
          raise exception 'A folder cannot be in itself or in a folder below it.' using constraint = 'platform_folders_tree';
        end if;
        return null;
      end $$`);
    for (const name of ['platform_folders_tree_lock', 'platform_folders_tree']) {
      await db.query(`drop trigger if exists ${name} on ${table}`);
    }
    await db.query(`create trigger platform_folders_tree_lock before insert or update of parent on ${table}
      for each statement execute function ${schema}.platform_folders_tree()`);
    await db.query(`create trigger platform_folders_tree after insert or update of parent on ${table}
      for each row when (new.parent is not null) execute function ${schema}.platform_folders_tree()`);
  },
};

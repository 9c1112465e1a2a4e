import type { Db, Migration } from '../database/contract.ts';

/** A trigger records when a user of a provider was changed, by SCIM, by an admin or by SQL: `meta.lastModified`. */
export function createModificationTrigger(db: Db): Migration {
  const users = db.watch('platform_users');
  const run = db.sql`${db.name(db.schemas[0] as string)}.platform_scim_user_modified()`;
  return {
    id: '2026-11-27-scim-user-modified',
    async up() {
      // With the rights of its owner: another program that writes users may have no right to write this table.
      await db.ddl(db.sql`create or replace function ${run} returns trigger language plpgsql
        security definer set search_path = pg_catalog, pg_temp as $$
      begin
        update ${db.own('platform_scim_users')} set modified = clock_timestamp() where "user" = new.id;
        return null;
      end $$`);
      await db.ddl(db.sql`drop trigger if exists platform_scim_user_modified on ${users}`);
      await db.ddl(db.sql`create trigger platform_scim_user_modified
        after update of first_name, last_name, title, language, email, status, external_identifier on ${users}
        for each row execute function ${run}`);
    },
  };
}

import { createChangeNotificationMigration } from '../cluster/library.ts';
import type { Db, Migration } from '../database/contract.ts';
import { PERMISSIONS_CHANGED_CHANNEL } from './contract.ts';

export const accessMigrations = (db: Db): readonly Migration[] => [announceChanges(db), deriveRoleKeys(db)];

/**
 * Triggers notify every process when a change of a permission or role is committed, also when the change was made by another process or
 * directly in the database.
 */
const announceChanges = (db: Db): Migration =>
  createChangeNotificationMigration({
    id: '2026-11-21-announce-changes',
    name: 'platform_access_changed',
    channel: PERMISSIONS_CHANGED_CHANNEL,
    tables: [db.own('platform_roles'), db.own('platform_permissions')],
  });

/** A trigger derives the missing key of a role from its name, so that it applies to every write, also directly in the database. */
function deriveRoleKeys(db: Db): Migration {
  const roles = db.own('platform_roles');
  const run = db.sql`${db.name(db.schemas[0] as string)}.platform_role_key()`;
  return {
    id: '2026-11-21-derive-role-keys',
    async up() {
      await db.ddl(db.sql`create or replace function ${run} returns trigger language plpgsql as $$
      declare
        base text := trim(both '_' from left(regexp_replace(lower(new.name), '[^a-z0-9]+', '_', 'g'), 200));
        candidate text;
        number integer := 1;
      begin
        if new.key is not null then return new; end if;
        perform pg_advisory_xact_lock(hashtext('platform_roles.key'));
        if base = '' or base ~ '^[0-9]' then base := rtrim('role_' || base, '_'); end if;
        candidate := base;
        while candidate = 'public' or exists (select from ${roles} r where r.key = candidate) loop
          number := number + 1;
          candidate := base || '_' || number;
        end loop;
        new.key := candidate;
        return new;
      end $$`);
      await db.ddl(db.sql`drop trigger if exists platform_role_key on ${roles}`);
      await db.ddl(db.sql`create trigger platform_role_key before insert on ${roles}
      for each row execute function ${run}`);
    },
  };
}

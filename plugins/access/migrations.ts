import { announcing } from '../cluster/contract.ts';
import { identifier, type Migration } from '../database/contract.ts';
import { CHANGED } from './permissions/announcement.ts';

/**
 * Whoever changes a permission or a role, through this process, another one or by hand in the database, every process
 * hears of it when the change is committed.
 */
export const announceChanges = announcing({
  id: '2026-11-21-announce-changes',
  name: 'platform_access_changed',
  channel: CHANGED,
  tables: ['platform_roles', 'platform_permissions'],
});

/** A role's key comes from its name unless given: here rather than in code, so that it holds for every way in. */
export const deriveRoleKeys: Migration = {
  id: '2026-11-21-derive-role-keys',
  async up(db) {
    const schema = identifier(db.schemas[0] as string);
    await db.query(`create or replace function ${schema}.platform_role_key() returns trigger language plpgsql as $$
      declare
        base text := trim(both '_' from left(regexp_replace(lower(new.name), '[^a-z0-9]+', '_', 'g'), 200));
        candidate text;
        number integer := 1;
      begin
        if new.key is not null then return new; end if;
        perform pg_advisory_xact_lock(hashtext('platform_roles.key'));
        if base = '' or base ~ '^[0-9]' then base := rtrim('role_' || base, '_'); end if;
        candidate := base;
        while candidate = 'public' or exists (select from ${schema}.platform_roles r where r.key = candidate) loop
          number := number + 1;
          candidate := base || '_' || number;
        end loop;
        new.key := candidate;
        return new;
      end $$`);
    await db.query(`drop trigger if exists platform_role_key on ${schema}.platform_roles`);
    await db.query(`create trigger platform_role_key before insert on ${schema}.platform_roles
      for each row execute function ${schema}.platform_role_key()`);
  },
};

import type { Db } from '../database/contract.ts';
import { LAST_ADMIN_LOCK } from './library.ts';

export type UserStatements = ReturnType<typeof userStatements>;

/** SQL statements about users, and about the roles that make some of them admins. */
export function userStatements(db: Db) {
  const users = db.write('platform_users');
  const roles = db.write('platform_roles');
  const permissions = db.write('platform_permissions');
  const presets = db.write('platform_presets');
  return {
    LOCK_FIRST_START: db.sql`select pg_advisory_xact_lock(hashtext('platform.first-start'))`,
    ADD_PUBLIC_ROLE: db.sql`insert into ${roles} (id, key, name, icon, description, admin_access, app_access)
      values ($1, 'public', 'Public', 'public', 'What requests without a token may do', false, false) on conflict do nothing`,
    HAS_EMAIL: db.sql`select 1 from ${users} where lower(email) = lower($1)`,
    ADD_ADMIN: db.sql`insert into ${users} (id, first_name, last_name, email, password, role, status, provider, token)
      values (gen_random_uuid(), 'Admin', 'User', $1, $2, $3, 'active', 'default', $4)`,
    HAS_ADMIN: db.sql`select 1 from ${users} u join ${roles} r on r.id = u.role where r.admin_access limit 1`,
    ADMIN_ROLE: db.sql`select id from ${roles} where admin_access order by name, id limit 1`,
    ADD_ADMIN_ROLE: db.sql`insert into ${roles} (id, name, icon, description, admin_access, app_access)
      values (gen_random_uuid(), 'Administrator', 'verified', 'May do everything', true, true) returning id`,

    EMAIL_OF_OTHERS: db.sql`select 1 from ${users} where lower(email) = lower($1) and not id = any($2::uuid[]) limit 1`,
    IS_ADMIN_ROLE: db.sql`select 1 from ${roles} where id::text = $1 and admin_access`,
    HAS_OTHER_KEY: db.sql`select 1 from ${roles} where id = any($1::uuid[]) and key is distinct from $2`,
    TRACK_PAGE: db.sql`update ${users} set last_page = $2 where id = $1`,

    REMOVE_PERMISSIONS: db.sql`delete from ${permissions} where role = any($1::uuid[])`,
    ARE_PRESETS_THERE: db.sql`select to_regclass(${db.literal(String(presets))}) as presets`,
    REMOVE_PRESETS: db.sql`delete from ${presets} where role = any($1::uuid[])`,
    SUSPEND: db.sql`update ${users} set role = null, status = 'suspended' where role = any($1::uuid[])`,

    LOCK_LAST_ADMIN: db.sql`select pg_advisory_xact_lock(hashtext(${db.literal(LAST_ADMIN_LOCK)}))`,
    ADMINS_LEFT: db.sql`with leaving_roles as (
        select unnest($2::uuid[] || string_to_array(nullif(current_setting('platform.leaving_roles', true), ''), ',')::uuid[]) as id
      ), leaving as (
        select id from ${users} where id = any($1::uuid[]) or role in (select id from leaving_roles)
        union select unnest(string_to_array(nullif(current_setting('platform.leaving_users', true), ''), ',')::uuid[])
      ), admin_roles as (
        select id, id in (select id from leaving_roles) as leaving from ${roles} where admin_access
      ), admins as (
        select u.id in (select id from leaving) as leaving
        from ${users} u join admin_roles r on r.id = u.role where u.status = 'active'
      )
      select (select coalesce(bool_and(leaving), false) from admins) or (select coalesce(bool_and(leaving), false) from admin_roles) as lost,
        coalesce((select string_agg(id::text, ',') from leaving), '') as users,
        coalesce((select string_agg(id::text, ',') from leaving_roles), '') as roles`,
    NOTE_LEAVING: db.sql`select set_config('platform.leaving_users', $1, true), set_config('platform.leaving_roles', $2, true)`,
  };
}

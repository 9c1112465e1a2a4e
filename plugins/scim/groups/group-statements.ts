import type { Db } from '../../database/contract.ts';
import { LAST_ADMIN_LOCK } from '../../users/library.ts';

export interface StoredGroup {
  readonly id: string;
  readonly name: string;
  readonly externalId: string | null;
  readonly version: string;
}

/** A user whose groups ask for another role than the user has. */
export interface RoleChange {
  readonly user: string;
  readonly role: string | null;
  /** Whether the user is an admin, before or after the change. */
  readonly isAdmin: boolean;
}

/** Statements about groups and their members. */
export function groupStatements(db: Db, version: ReturnType<Db['sql']>) {
  const groups = db.own('platform_scim_groups');
  const members = db.own('platform_scim_members');
  const users = db.read('platform_users');
  const roles = db.read('platform_roles');
  return {
    /** Held until the transaction ends: two changes of groups of one provider could give a user the role of one of them only. */
    LOCK: db.sql`select pg_advisory_xact_lock(hashtextextended($1, 0))`,
    /** Before rows of users, since a role may remove an admin; others take the locks in this order as well. */
    LOCK_LAST_ADMIN: db.sql`select pg_advisory_xact_lock(hashtext(${db.literal(LAST_ADMIN_LOCK)}))`,
    /** Users stay as ROLE_CHANGES reads them until the transaction ends. */
    LOCK_USERS: db.sql`select 1 from ${users} where id = any($1::uuid[]) order by id for no key update`,
    BY_ID: db.sql`select g.id, g.name, g.external_id as "externalId", ${version} as version from ${groups} g
      where g.provider = $1 and g.id = $2::uuid`,
    CREATE: db.sql`insert into ${groups} (provider, name, name_key, external_id, is_mapped)
      values ($1, $2::text, lower($2::text), $3, $4) returning id`,
    UPDATE: db.sql`update ${groups} set name = $2::text, name_key = lower($2::text), external_id = $3, is_mapped = $4, modified = clock_timestamp() where id = $1`,
    DELETE: db.sql`delete from ${groups} where id = $1`,
    /** Members of the groups of the provider $1 that the mapping names ($2), or named before. */
    MEMBERS_OF_MAPPED: db.sql`select distinct m."user" from ${groups} g join ${members} m on m."group" = g.id
      where g.provider = $1 and (g.is_mapped or g.name = any($2::text[]) or g.external_id = any($2::text[]))`,
    STORE_MAPPED: db.sql`update ${groups} set is_mapped = not is_mapped where provider = $1
      and is_mapped is distinct from (name = any($2::text[]) or coalesce(external_id = any($2::text[]), false))`,
    MEMBERS: db.sql`select "user" from ${members} where "group" = $1`,
    /** Keys that are no user of the provider. */
    UNKNOWN_USERS: db.sql`select id from unnest($2::uuid[]) as requested (id)
      where not exists (select 1 from ${users} u where u.id = requested.id and u.provider = $1) limit 1`,
    ADD: db.sql`insert into ${members} ("group", "user") select $1, id from unnest($2::uuid[]) as requested (id)
      on conflict ("group", "user") do nothing returning "user"`,
    REMOVE: db.sql`delete from ${members} where "group" = $1 and "user" = any($2::uuid[]) returning "user"`,
    REMOVE_OTHERS: db.sql`delete from ${members} where "group" = $1 and not "user" = any($2::uuid[]) returning "user"`,
    /**
     * Users of the provider $1, among $2, whose role is not the one of the first entry of the mapping ($3 groups, $4 roles) of which they are
     * a member, by the name or the external id of the group, else the default $5.
     */
    ROLE_CHANGES: db.sql`with requested as (
        select u.id, u.role, (
          select mapping.role from unnest($3::text[], $4::uuid[]) with ordinality as mapping (name, role, place)
          where exists (select 1 from ${members} m join ${groups} g on g.id = m."group"
            where m."user" = u.id and g.provider = $1 and (g.name = mapping.name or g.external_id = mapping.name))
          order by place limit 1
        ) as mapped
        from ${users} u where u.provider = $1 and u.id = any($2::uuid[])
      )
      select w.id as "user", coalesce(w.mapped, $5::uuid) as role,
        exists (select 1 from ${roles} r where r.id in (w.role, coalesce(w.mapped, $5::uuid)) and r.admin_access) as "isAdmin"
      from requested w where w.role is distinct from coalesce(w.mapped, $5::uuid) order by w.id`,
  };
}

export type GroupStatements = ReturnType<typeof groupStatements>;

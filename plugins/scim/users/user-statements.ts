import type { Db } from '../../database/contract.ts';
import { LAST_ADMIN_LOCK } from '../../users/library.ts';

/** A user of a provider before a change. */
export interface StoredUser {
  readonly id: string;
  readonly status: string;
  readonly role: string | null;
  readonly isAdmin: boolean;
  readonly userName: string;
  readonly displayName: string | null;
  readonly externalId: string | null;
  readonly first_name: string | null;
  readonly last_name: string | null;
  readonly title: string | null;
  readonly language: string | null;
  readonly email: string | null;
  readonly version: string;
}

/** Statements about users of providers; users themselves are written by the items engine. */
export function userStatements(db: Db, version: ReturnType<Db['sql']>) {
  const users = db.read('platform_users');
  const roles = db.read('platform_roles');
  const accounts = db.own('platform_scim_users');
  const userName = db.sql`coalesce(s.user_name, u.email, u.id::text)`;
  const from = db.sql`${users} u left join ${accounts} s on s."user" = u.id and s.provider = u.provider`;
  const USER = db.sql`select u.id, u.status, u.role, u.first_name, u.last_name, u.title, u.language, u.email,
      u.external_identifier as "externalId", s.display_name as "displayName", ${userName} as "userName", ${version} as version,
      coalesce((select r.admin_access from ${roles} r where r.id = u.role), false) as "isAdmin"
    from ${from}`;
  return {
    /** Before the row, where a write may remove an admin. */
    LOCK_LAST_ADMIN: db.sql`select pg_advisory_xact_lock(hashtext(${db.literal(LAST_ADMIN_LOCK)}))`,
    /** Until the transaction ends no other writer changes what is read after it. */
    LOCK_ROW: db.sql`select 1 from ${users} where id = $1::uuid for update`,
    LOCK_LOCAL_ROW: db.sql`select 1 from ${users} where provider = 'default' and lower(email) = lower($1) for update`,
    BY_ID: db.sql`${USER} where u.provider = $1 and u.id = $2::uuid`,
    /** The local user with this address, whom a provider may take over. */
    LOCAL_BY_EMAIL: db.sql`${USER} where u.provider = 'default' and lower(u.email) = lower($1)`,
    /** A user who was given to another provider leaves its name. */
    HAS_USER_NAME: db.sql`with left_over as (
        delete from ${accounts} a using ${users} mu
        where a.provider = $1 and a.user_name_key = lower($2) and mu.id = a."user" and mu.provider is distinct from $1
      ) select 1 from ${from} where u.provider = $1 and lower(${userName}) = lower($2) and u.id is distinct from $3::uuid`,
    STORE: db.sql`insert into ${accounts} ("user", provider, user_name, user_name_key, display_name)
      values ($1, $2, $3::text, lower($3::text), $4)
      on conflict ("user") do update set provider = excluded.provider, user_name = excluded.user_name,
        user_name_key = excluded.user_name_key, display_name = excluded.display_name, modified = clock_timestamp()`,
    IS_ADMIN_ROLE: db.sql`select 1 from ${roles} where id = $1::uuid and admin_access`,
  };
}

export type UserStatements = ReturnType<typeof userStatements>;

import type { Db } from '../database/contract.ts';

/** The statements about sessions. Tokens in them are hashes. `remembersSpentTokens`: REFRESH_TOKEN_REUSE is `revoke`. */
export function sessionStatements(db: Db, remembersSpentTokens: boolean) {
  const users = db.write('platform_users');
  const sessions = db.write('platform_sessions');
  const spentTokens = db.write('platform_spent_tokens');
  const roles = db.read('platform_roles');

  // The newest thousand spent tokens of a session are kept: one that is refreshed every ten minutes for a week has as many.
  const REMEMBER = remembersSpentTokens
    ? db.sql`spent as (
        insert into ${spentTokens} (token, session, "user", expires)
        select $1, gone.id, made."user", gone.expires from gone cross join made
      ), excess as (
        delete from ${spentTokens} where token in (
          select s.token from ${spentTokens} s join gone on s.session = gone.id
          order by s.expires desc offset 999)
      ),`
    : db.sql``;

  return {
    // One statement, which locks the user's row: a concurrent password change leaves no session behind.
    OPEN: db.sql`with seen as (
        update ${users} set last_access = now()
        where id = $1 and status = 'active' and password is not distinct from $2 returning id
      ), old as (
        delete from ${sessions} where token in (
          select token from ${sessions} where expires < now() for update skip locked)
      ), old_spent as (
        delete from ${spentTokens} where token in (
          select token from ${spentTokens} where expires < now() limit 1000 for update skip locked)
      )
      insert into ${sessions} (token, "user", expires, ip, user_agent, origin, id, created, last_used)
      select $3, id, now() + $4 * interval '1 millisecond', $5, $6, $7, $8, now(), now() from seen returning 1`,

    OWNER: db.sql`select u.id, u.status, u.provider, u.role, r.admin_access, r.app_access
      from ${sessions} s join ${users} u on u.id = s."user" left join ${roles} r on r.id = u.role
      where s.token = $1 and s.share is null and s.expires > now() and u.status = 'active'`,

    CLOSE: db.sql`delete from ${sessions} where token = $1`,

    // The rows stay locked until the change commits. A refresh locks them first, too: it either runs later and finds
    // no session, or ran before, and the second statement sees its new session.
    LOCK_CHANGED: db.sql`select id from ${users} where id = any($1::uuid[])
      and ($2 or ($3 and email is distinct from $4) or ($5 and status is distinct from $6)) order by id for update`,
    LOCK: db.sql`select id from ${users} where id = any($1::uuid[]) order by id for no key update`,
    CLOSE_ALL: db.sql`delete from ${sessions} where "user" = any($1::uuid[])`,
    CLOSE_ONE: db.sql`delete from ${sessions} where "user" = $1 and id = $2 and share is null`,
    CLOSE_OTHERS: db.sql`delete from ${sessions} where "user" = $1 and id is distinct from $2::uuid and share is null`,

    LIST: db.sql`select id, created, last_used, expires, ip, user_agent, origin from ${sessions}
      where "user" = $1 and share is null and expires > now()
      order by last_used desc nulls last, id limit $2 offset $3`,

    SPENT: db.sql`select session, "user" from ${spentTokens} where token = $1 and expires > now()`,
    FORGET_SPENT: db.sql`delete from ${spentTokens} where session = $1`,

    /**
     * One statement: it locks the user's row before the session's, deletes the old token, and inserts a new one only if
     * the old one existed, had not expired, and its owner is active.
     */
    ROTATE: db.sql`with held as materialized (
        select token, "user" from ${sessions} where token = $1 and share is null
      ), owner as materialized (
        select u.id, u.status, u.provider, u.role from ${users} u join held on u.id = held."user" for no key update of u
      ), gone as (
        delete from ${sessions} s using owner where s.token = $1 and s."user" = owner.id
        returning s.id, s.created, s.expires, s.expires <= now() as expired
      ), made as (
        insert into ${sessions} (token, id, "user", expires, ip, user_agent, origin, created, last_used)
        select $2, gone.id, owner.id, now() + $3 * interval '1 millisecond', $4::text, $5, $6, gone.created, now()
        from owner cross join gone where owner.status = 'active' and not gone.expired
        returning "user"
      ), ${REMEMBER} seen as (
        update ${users} u set last_access = now() from made where u.id = made."user"
      )
      select owner.id, owner.status, owner.provider, owner.role, r.admin_access, r.app_access,
        gone.id as session, coalesce(gone.expired, false) as expired,
        floor(extract(epoch from gone.created))::float8 as signed_in_at
      from owner left join ${roles} r on r.id = owner.role left join gone on true`,
  };
}

import type { Db } from '../database/contract.ts';

/** Statements on the attempts to sign in. `failures`: since the last completed sign-in; `pending`: being checked now. */
export function signInAttemptStatements(db: Db) {
  const attempts = db.write('platform_sign_in_attempts');
  const sessions = db.write('platform_sessions');
  const users = db.write('platform_users');
  const roles = db.read('platform_roles');
  // A process that was killed leaves its attempts pending.
  const pending = db.sql`case when a.at < now() - interval '2 minutes' then 0 else a.pending end`;
  // An attempt is not flushed to disk before its answer: unknown e-mail addresses write nothing, and the wait would tell them from
  // known ones. A crash of the database may lose the attempts of its last second; suspending a user is flushed.
  const NO_FLUSH = db.sql`no_flush as materialized (select set_config('synchronous_commit', 'off', true) as mode)`;
  return {
    // Pending attempts count as failed, so that no more than $2 are ever checked. A user who is active although the attempts are
    // used up was activated by SQL, or is the last admin, who is never suspended: such a user has one attempt in ten seconds.
    BEGIN: db.sql`with ${NO_FLUSH} insert into ${attempts} as a ("user", failures, pending, at)
      select id, 0, 1, now() from ${users} cross join no_flush where id = $1
      on conflict ("user") do update set pending = ${pending} + 1, at = now()
      where a.failures + ${pending} < $2 or (a.failures >= $2 and ${pending} = 0 and a.at < now() - interval '10 seconds'
        and exists (select 1 from ${users} u where u.id = a."user" and u.status = 'active'))
      returning 1`,
    STATUS: db.sql`select status from ${users} where id = $1`,
    FAIL: db.sql`with ${NO_FLUSH} update ${attempts} set failures = failures + 1, pending = greatest(pending - 1, 0), at = now()
      from no_flush where "user" = $1 returning failures`,
    // A right password, or a check that did not happen. The time moves back, so that the one attempt in ten seconds is not used up: the
    // one-time code after a right password is an attempt of its own.
    GIVE_BACK: db.sql`update ${attempts} set pending = greatest(pending - 1, 0), at = least(at, now() - interval '11 seconds')
      where "user" = $1`,
    RESET: db.sql`update ${attempts} set failures = 0 where "user" = $1 and failures > 0`,
    FORGET: db.sql`delete from ${attempts} where "user" = any($1::uuid[])`,

    // The rule that one active admin remains, which the plugin `users` checks, takes the same lock.
    LOCK: db.sql`select pg_advisory_xact_lock(hashtext('platform.last-admin'))`,
    SUSPEND: db.sql`with suspended as (
        update ${users} u set status = 'suspended' where u.id = $1 and u.status = 'active' and (
          not exists (select 1 from ${roles} r where r.id = u.role and r.admin_access)
          or exists (select 1 from ${users} o join ${roles} r on r.id = o.role
            where r.admin_access and o.status = 'active' and o.id <> u.id))
        returning u.id
      )
      delete from ${sessions} s using suspended where s."user" = suspended.id`,
  };
}

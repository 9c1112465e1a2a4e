import type { Db } from '../database/contract.ts';
import { RECOVERY_CODES, SECOND_FACTORS } from './collections.ts';

/** SQL statements about second factors. `$1` is the user. */
export function secondFactorStatements(db: Db) {
  const users = db.write('platform_users');
  const roles = db.read('platform_roles');
  const factors = db.own(SECOND_FACTORS);
  const codes = db.own(RECOVERY_CODES);
  return {
    ACCOUNT: db.sql`select u.email, u.provider, u.password is not null as "hasPassword", u.tfa_secret is not null as "isEnrolled",
        coalesce(r.enforce_tfa, false) as "isEnforced"
      from ${users} u left join ${roles} r on r.id = u.role where u.id = $1`,
    USER_OF_EMAIL: db.sql`select id from ${users} where lower(email) = lower($1)`,
    USER: db.sql`select id from ${users} where id = $1`,

    OFFER: db.sql`insert into ${factors} as f ("user", offer, offered_at)
      select id, $2, now() from ${users} where id = $1 and tfa_secret is null
      on conflict ("user") do update set offer = excluded.offer, offered_at = excluded.offered_at`,
    IS_OFFERED: db.sql`select 1 from ${factors}
      where "user" = $1 and offer = $2 and offered_at > now() - $3 * interval '1 millisecond'`,
    // Of several requests the first one that locks the user's row marks it; the others find it marked.
    ENROLL: db.sql`with marked as (
        update ${users} u set tfa_secret = $3 from ${factors} f
        where u.id = $1 and u.tfa_secret is null and f."user" = u.id and f.offer = $2 returning u.id
      ), gone as (
        delete from ${codes} c using marked where c."user" = marked.id
      )
      update ${factors} f set offer = null, offered_at = null, secret = $4, enrollment = gen_random_uuid(), last_step = $5,
        enabled_at = now()
      from marked where f."user" = marked.id`,
    REMOVE: db.sql`with unmarked as (
        update ${users} set tfa_secret = null where id = $1 and tfa_secret is not null returning id
      ), gone as (
        delete from ${factors} where "user" = $1
      )
      select count(*)::int as count from unmarked`,

    ENROLLED: db.sql`select f.enrollment, f.secret from ${factors} f join ${users} u on u.id = f."user"
      where f."user" = $1 and f.secret is not null and u.tfa_secret is not null`,
    // One statement, so that of requests with one code, in whatever process, one finds the step unused.
    USE_STEP: db.sql`update ${factors} set last_step = $3, secret = coalesce($4, secret)
      where "user" = $1 and enrollment = $2 and last_step < $3`,
    USE_RECOVERY_CODE: db.sql`delete from ${codes} where "user" = $1 and code = $2`,

    LOCK: db.sql`select 1 from ${factors} where "user" = $1 and secret is not null for no key update`,
    REMOVE_RECOVERY_CODES: db.sql`delete from ${codes} where "user" = $1`,
    ADD_RECOVERY_CODES: db.sql`insert into ${codes} ("user", code) select $1, unnest($2::text[])`,
    COUNT_RECOVERY_CODES: db.sql`select count(*)::int as count from ${codes} where "user" = $1`,
  };
}

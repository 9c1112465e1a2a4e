import type { Db } from '../database/contract.ts';

/** Passkeys of one user at most: each is a way to sign in that has to be kept an eye on. */
export const MAX_PASSKEYS = 20;

/** The statements about passkeys and spent challenges. */
export function passkeyStatements(db: Db) {
  const passkeys = db.write('platform_passkeys');
  const challenges = db.write('platform_passkey_challenges');
  const users = db.read('platform_users');
  const SHOWN = db.sql`id, name, credential, transports, synced, backed_up, date_created, last_used`;
  // Of concurrent responses to one challenge the first spends it, the others wait for it and get no row. A spent challenge is kept for
  // an hour by the clock of the database, which is longer than any process takes it for valid by its own.
  const OLD = db.sql`delete from ${challenges} where id in (
    select id from ${challenges} where expires < now() limit 100 for update skip locked)`;
  const SPENT = db.sql`insert into ${challenges} (id, expires) values ($1, now() + interval '1 hour')
    on conflict do nothing returning 1`;
  // As `reauthentication` digests the password.
  const DIGEST = db.sql`encode(sha256(convert_to(coalesce(u.password, ''), 'UTF8')), 'hex')`;

  return {
    USER: db.sql`select id, email, first_name, last_name from ${users} where id = $1`,
    MAIL_ADDRESS: db.sql`select email from ${users} where id = $1 and status = 'active' and email is not null`,

    /** Registrations of one user run one after the other, so that they count one another. */
    LOCK: db.sql`select pg_advisory_xact_lock(hashtext('platform.passkeys'), hashtext($1))`,
    SPEND: db.sql`with old as (${OLD}) ${SPENT}`,
    /** No row where the user was deleted, suspended or got another password since the registration began. */
    INSERT: db.sql`insert into ${passkeys} as p (id, "user", name, credential, public_key, counter, transports, synced, backed_up)
      select $1::uuid, u.id, $3, $4, $5, $6::bigint, $7::json, $8, $9 from ${users} u
      where u.id = $2 and u.status = 'active' and ${DIGEST} = $10
      on conflict do nothing
      returning ${SHOWN}`,
    COUNT: db.sql`select count(*)::int as count from ${passkeys} where "user" = $1`,
    EXISTS: db.sql`select 1 from ${passkeys} where credential = $1`,

    LIST: db.sql`select ${SHOWN} from ${passkeys} where "user" = $1 order by date_created, id`,
    RENAME: db.sql`update ${passkeys} set name = $3 where "user" = $1 and id = $2 returning ${SHOWN}`,
    DELETE: db.sql`delete from ${passkeys} where "user" = $1 and id = $2 returning id, name`,
    /** Of those of `$1` whom a write gives another provider, `$2`. */
    DELETE_OF_MOVED: db.sql`delete from ${passkeys} p using ${users} u
      where p."user" = u.id and u.id = any($1::uuid[]) and u.provider is distinct from $2`,
    DELETE_ALL: db.sql`delete from ${passkeys} where "user" = $1 returning id, name`,

    FIND: db.sql`select id, "user", credential, public_key as "publicKey" from ${passkeys} where credential = $1`,
    /**
     * Spends the challenge and records the use, if the passkey still exists and its counter is higher than before; a counter of 0 is that
     * of a passkey which does not count.
     */
    USE: db.sql`with old as (${OLD}), spent as (${SPENT}), used as (
        update ${passkeys} set counter = $3::bigint, backed_up = $4, last_used = now()
        where id = $2 and exists (select 1 from spent) and (counter < $3::bigint or (counter = 0 and $3::bigint = 0))
        returning 1
      )
      select exists (select 1 from spent) as fresh, exists (select 1 from used) as used,
        exists (select 1 from ${passkeys} where id = $2) as known`,
  };
}

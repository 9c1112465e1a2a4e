import type { Db } from '../database/contract.ts';

/** A user as far as registrations look at it. */
export interface RegisteredUser {
  readonly id: string;
  readonly email: string;
  readonly password: string | null;
  readonly status: string;
}

export function registrationStatements(db: Db) {
  const users = db.read('platform_users');
  const registrations = db.write('platform_registrations');
  const USER = db.sql`select id, email, password, status from ${users}`;
  const isHourOver = db.sql`r.since < now() - interval '1 hour'`;
  return {
    COUNT_WAITING: db.sql`select count(*)::int as waiting from ${registrations}`,
    FIND_BY_EMAIL: db.sql`${USER} where lower(email) = lower($1)`,
    LOCK_BY_ID: db.sql`${USER} where id = $1 for update`,

    // $2 in milliseconds.
    ADD: db.sql`insert into ${registrations} ("user", expires, sent, since, last)
      values ($1, now() + $2 * interval '1 millisecond', 1, now(), now())`,
    /** Counts another mail to a user who registers again: at most one a minute and five an hour. */
    COUNT_MAIL: db.sql`update ${registrations} r set last = now(), expires = now() + $2 * interval '1 millisecond',
        sent = case when ${isHourOver} then 1 else r.sent + 1 end,
        since = case when ${isHourOver} then now() else r.since end
      where r."user" = $1 and r.last < now() - interval '1 minute' and (r.sent < 5 or ${isHourOver})
      returning 1`,
    REMOVE: db.sql`delete from ${registrations} where "user" = $1`,

    // Those that a request works on at the moment are left for the next time.
    EXPIRED: db.sql`select u.id from ${registrations} r join ${users} u on u.id = r."user"
      where r.expires < now() and u.status = 'unverified' limit 100 for update of r, u skip locked`,
    /** A user whom an admin has given another status is no registration any more. */
    REMOVE_DECIDED: db.sql`delete from ${registrations} r using ${users} u
      where u.id = r."user" and u.status <> 'unverified' and r.expires < now()`,
  };
}

export type RegistrationStatements = ReturnType<typeof registrationStatements>;

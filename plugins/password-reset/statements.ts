import type { Db } from '../database/contract.ts';

/** What a link for a new password is made of, and compared with. */
export interface PasswordOwner {
  readonly id: string;
  readonly email: string | null;
  readonly password: string | null;
  readonly provider: string;
}

export function passwordResetStatements(db: Db) {
  const users = db.read('platform_users');
  const requests = db.write('platform_password_requests');
  const isHourOver = db.sql`r.since < now() - interval '1 hour'`;
  return {
    /**
     * Finds the user who gets a mail, and counts the mail, in one statement: concurrent requests send no more. At most one mail a minute
     * and five an hour; no row for other users and for unknown addresses.
     */
    COUNT_MAIL: db.sql`with found as (
        select id, email, password, provider from ${users}
        where lower(email) = lower($1) and status = 'active' and provider = 'default'
      ), counted as (
        insert into ${requests} as r ("user", sent, since, last) select id, 1, now(), now() from found
        on conflict ("user") do update set last = now(),
          sent = case when ${isHourOver} then 1 else r.sent + 1 end,
          since = case when ${isHourOver} then now() else r.since end
        where r.last < now() - interval '1 minute' and (r.sent < 5 or ${isHourOver})
        returning "user"
      )
      select found.* from found join counted on counted."user" = found.id`,

    // Of concurrent uses of one link, one after the other sees the password.
    LOCK_USER: db.sql`select id, email, password, provider, status from ${users} where id = $1 for update`,
    FORGET: db.sql`delete from ${requests} where "user" = $1`,
  };
}

import { createHash } from 'node:crypto';
import type { Caller } from '#kernel';
import type { SessionDirectory } from '../auth/contract.ts';
import type { Db } from '../database/contract.ts';

/** Sessions here by what the provider calls its user and its session, for sign-outs that the provider begins. */
export interface ProviderSessions {
  /** Keeps where a session here came from, for 90 days. */
  remember(session: string, origin: SessionOrigin): Promise<void>;
  /**
   * Ends the sessions that came from a session of the provider, or all of its user where no session is named. Of a provider that gives
   * its sessions no name at a sign-in, all of the user end, too. Answers how many there were.
   */
  end(
    provider: string,
    over: { readonly subject?: string | undefined; readonly session?: string | undefined },
  ): Promise<number>;
}

/** What a session here came from. */
export interface SessionOrigin {
  readonly provider: string;
  /** Key of the user here. */
  readonly user: string;
  /** What the provider calls the user. */
  readonly subject: string;
  /** What the provider calls its session; undefined where it gives it no name. */
  readonly session: string | undefined;
}

interface Deps {
  readonly db: Db;
  readonly directory: Pick<SessionDirectory, 'end'>;
  readonly systemCaller: () => Caller;
}

/** Rows that one sign-in deletes after their expiry: more than it adds, so that the table does not grow. */
const DELETED_AT_A_TIME = 20;
const KEPT_DAYS = 90;
/** Sessions that one message ends. */
const MAX_ENDED = 1000;

export function createProviderSessions({ db, directory, systemCaller }: Deps): ProviderSessions {
  const table = db.own('platform_provider_sessions');
  const REMEMBER = db.sql`with old as (
      delete from ${table} where session in (
        select session from ${table} where expires < now() limit ${db.literal(String(DELETED_AT_A_TIME))}::integer
        for update skip locked)
    )
    insert into ${table} (session, "user", subject, provider_session, expires)
    values ($1, $2, $3, $4, now() + ${db.literal(String(KEPT_DAYS))}::integer * interval '1 day')`;
  const FORGET = db.sql`with over as (
      select session from ${table} where ($2::text is null and subject = $1)
        or (provider_session = $2 and ($1::text is null or subject = $1))
        or (provider_session is null and $2 is not null and subject = $1)
      limit ${db.literal(String(MAX_ENDED))}::integer for update skip locked
    )
    delete from ${table} where session in (select session from over) returning session, "user"`;
  // Texts of providers have any length.
  const hashOf = (provider: string, kind: string, text: string | undefined) =>
    text === undefined
      ? null
      : createHash('sha256')
          .update(JSON.stringify([provider, kind, text]))
          .digest('hex');

  return {
    async remember(id, { provider, user, subject, session }) {
      await db.query(REMEMBER, [id, user, hashOf(provider, 'user', subject), hashOf(provider, 'session', session)]);
    },
    async end(provider, { subject, session }) {
      const params = [hashOf(provider, 'user', subject), hashOf(provider, 'session', session)];
      return db.transaction(async () => {
        const { rows } = await db.query<{ session: string; user: string }>(FORGET, params);
        let ended = 0;
        for (const row of rows) if (await directory.end(systemCaller(), row.user, row.session)) ended++;
        return ended;
      });
    },
  };
}

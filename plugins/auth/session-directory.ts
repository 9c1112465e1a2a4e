import type { Caller } from '#kernel';
import type { HistoryRecorder } from '../activity/contract.ts';
import type { Db } from '../database/contract.ts';
import { isUuid } from '../database/library.ts';
import type { AccessTokenCodec } from './access-tokens.ts';
import type { SessionDirectory } from './contract.ts';
import { presentedToken } from './presented-token.ts';
import type { SessionStore } from './sessions.ts';

interface Deps {
  readonly db: Pick<Db, 'transaction'>;
  readonly activity: Pick<HistoryRecorder, 'record'>;
  readonly sessions: Pick<SessionStore, 'list' | 'closeOne' | 'closeOthers'>;
  readonly tokens: Pick<AccessTokenCodec, 'verify'>;
}

/** A malformed id names no session and no user, and PostgreSQL would fail on it. */

/** The service `session-directory`. */
export function createSessionDirectory({ db, activity, sessions, tokens }: Deps): SessionDirectory {
  /** Ends sessions and records it in one transaction; where there was none, nothing is recorded. */
  const endAndRecord = (caller: Caller, user: string, end: () => Promise<number>): Promise<number> =>
    db.transaction(async () => {
      const ended = await end();
      if (ended > 0) await activity.record(caller, { action: 'logout', collection: 'platform_users', item: user });
      return ended;
    });

  return {
    async list(user, { limit, offset }) {
      if (!isUuid(user)) return [];
      return (await sessions.list(user, limit, offset)).map(({ id, created, last_used, expires, ...client }) => ({
        id,
        created,
        lastUsed: last_used,
        expires,
        client: { ip: client.ip, userAgent: client.user_agent, origin: client.origin },
      }));
    },

    async end(caller, user, session) {
      if (!isUuid(user) || !isUuid(session)) return false;
      const end = async () => Number(await sessions.closeOne(user, session));
      return (await endAndRecord(caller, user, end)) > 0;
    },

    async endOthers(caller, user, kept) {
      if (!isUuid(user)) return 0;
      const keptId = kept !== undefined && isUuid(kept) ? kept : null;
      return endAndRecord(caller, user, () => sessions.closeOthers(user, keptId));
    },

    currentOf(ctx) {
      const token = presentedToken(ctx);
      // Tokens of earlier versions have no such claim, and filters of `auth.jwt` may change it.
      const session = token === undefined ? undefined : tokens.verify(token)?.claims.session;
      return typeof session === 'string' ? session : undefined;
    },
  };
}

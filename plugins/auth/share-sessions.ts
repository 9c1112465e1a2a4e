import { fail } from '#kernel';
import type { AccessControl, SharedItem } from '../access/contract.ts';
import type { Db } from '../database/contract.ts';
import type { clientInfoOf } from '../http/library.ts';
import type { AccessTokenClaims, AccessTokenCodec } from './access-tokens.ts';
import { assertAddressAllowedForRole, isAddressAllowedForRole } from './role-ip-access.ts';
import { clientColumns, createRefreshToken, hashToken } from './sessions.ts';
import type { TokenPair } from './sign-in.ts';

type Client = ReturnType<typeof clientInfoOf>;

/** Sessions that a share keeps: anonymous clients could fill the table otherwise. The ones that end first are ended. */
const MAX_SESSIONS = 1000;

interface Deps {
  readonly db: Db;
  readonly access: Pick<AccessControl, 'role' | 'sharedItem'>;
  readonly tokens: AccessTokenCodec;
  /** Milliseconds. */
  readonly lifetime: number;
}

/** Sessions of visitors of shares, who have no user. */
export interface ShareSessions {
  /** @throws INVALID_IP */
  open(share: SharedItem, client: Client): Promise<TokenPair>;
  /**
   * New tokens for a refresh token. Of concurrent requests with one token, one succeeds.
   * @throws INVALID_CREDENTIALS for an unknown token and for a share that is over, TOKEN_EXPIRED, INVALID_IP
   */
  refresh(token: string, client: Client): Promise<TokenPair>;
  /** The claims of a session that has not expired, of a share that is in force. Changes nothing. */
  claimsOf(token: string, ip: string | null): Promise<AccessTokenClaims | undefined>;
  closeOf(shares: readonly string[]): Promise<void>;
}

export function createShareSessions({ db, access, tokens, lifetime }: Deps): ShareSessions {
  const { SHARE, OPEN, ROTATE, CLOSE, CLOSE_ALL } = shareSessionStatements(db);

  const shareOf = async (token: string): Promise<{ share: string; isExpired: boolean } | undefined> =>
    (await db.query<{ share: string; isExpired: boolean }>(SHARE, [hashToken(token)])).rows[0];

  return {
    async open(share, client) {
      await assertAddressAllowedForRole(access, share.role, client.ip);
      const refresh = createRefreshToken();
      await db.query(OPEN, [share.id, hashToken(refresh), lifetime, ...clientColumns(client), MAX_SESSIONS]);
      return { access: tokens.sign(claimsOfShare(share)), refresh };
    },

    async refresh(token, client) {
      const session = await shareOf(token);
      if (!session) throw fail('INVALID_CREDENTIALS', 'unknown refresh token');
      const shared = session.isExpired ? undefined : await access.sharedItem(session.share);
      const isAllowed = shared && (await isAddressAllowedForRole(access, shared.role, client.ip));
      if (!isAllowed) await db.query(CLOSE, [hashToken(token)]);
      if (session.isExpired) throw fail('TOKEN_EXPIRED', 'the refresh token is too old');
      if (!shared) throw fail('INVALID_CREDENTIALS', 'the share is over');
      if (!isAllowed) throw fail('INVALID_IP', 'the address is not among those of the role of the share');
      const next = createRefreshToken();
      const params = [hashToken(token), hashToken(next), lifetime, ...clientColumns(client)];
      if ((await db.query(ROTATE, params)).count !== 1) throw fail('INVALID_CREDENTIALS', 'unknown refresh token');
      return { access: tokens.sign(claimsOfShare(shared)), refresh: next };
    },

    async claimsOf(token, ip) {
      const session = await shareOf(token);
      const shared = session && !session.isExpired ? await access.sharedItem(session.share) : undefined;
      if (!shared || !(await isAddressAllowedForRole(access, shared.role, ip))) return undefined;
      return claimsOfShare(shared);
    },

    async closeOf(shares) {
      await db.query(CLOSE_ALL, [shares]);
    },
  };
}

const claimsOfShare = ({ id, role, collection, item }: SharedItem): AccessTokenClaims => ({
  id: null,
  role,
  app_access: false,
  admin_access: false,
  share: id,
  share_scope: { collection, item },
});

function shareSessionStatements(db: Db) {
  const sessions = db.write('platform_sessions');
  return {
    SHARE: db.sql`select share, expires <= now() as "isExpired" from ${sessions} where token = $1 and share is not null`,

    // A session that another statement ends or renews at this moment is skipped, since that one may wait for the share.
    OPEN: db.sql`with old as (
        delete from ${sessions} where token in (
          select token from ${sessions} where share = $1::uuid and (expires <= now() or token in (
            select token from ${sessions} where share = $1::uuid order by expires desc, token offset $7::int - 1))
          for update skip locked)
      )
      insert into ${sessions} (token, share, expires, ip, user_agent, origin)
      values ($2, $1::uuid, now() + $3 * interval '1 millisecond', $4, $5, $6)`,

    ROTATE: db.sql`with gone as (
        delete from ${sessions} where token = $1 and share is not null and expires > now() returning share
      )
      insert into ${sessions} (token, share, expires, ip, user_agent, origin)
      select $2, share, now() + $3 * interval '1 millisecond', $4::text, $5, $6 from gone`,

    CLOSE: db.sql`delete from ${sessions} where token = $1`,
    CLOSE_ALL: db.sql`delete from ${sessions} where share = any($1::uuid[])`,
  };
}

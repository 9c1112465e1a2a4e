import { fail } from '#kernel';
import type { SharedItem } from '../access/contract.ts';
import type { SessionService, SessionTokens } from '../auth/contract.ts';
import type { Db } from '../database/contract.ts';
import { toClientNetworkKey } from '../outbound/library.ts';
import type { PasswordService } from '../passwords/contract.ts';
import { isUuid } from '../query/library.ts';
import { SHARES_COLLECTION } from './collections.ts';
import type { WindowLimits } from './limits.ts';

/** Wrong passwords of one share from one client network; further ones wait, and no other network does. */
const GUESSES_OF_NETWORK = { points: 10, seconds: 15 * 60 } as const;
/** Wrong passwords of one share from all networks. */
const GUESSES_OF_SHARE = { points: 100, seconds: 15 * 60 } as const;

interface Deps {
  readonly db: Db;
  readonly limits: WindowLimits;
  readonly passwords: Pick<PasswordService, 'verify'>;
  readonly sessions: Pick<SessionService, 'openShare'>;
}

type Caller = Parameters<SessionService['openShare']>[0];

/**
 * Opens a session by a share and counts the use.
 * @throws INVALID_CREDENTIALS for an unknown share, a wrong password, and a share that has not begun, is over or used up;
 *   REQUESTS_EXCEEDED for too many wrong passwords; INVALID_IP
 */
export type UseShare = (caller: Caller, share: string, password: string | undefined) => Promise<SessionTokens>;

export function createUseShare({ db, limits, passwords, sessions }: Deps): UseShare {
  const shares = db.write(SHARES_COLLECTION);
  const PASSWORD = db.sql`select password from ${shares} where id = $1`;
  // The row stays locked until the session is committed, so that no more uses than allowed succeed, and none without its session.
  const USE = db.sql`update ${shares} set times_used = times_used + 1
    where id = $1 and password is not distinct from $2 and (max_uses is null or times_used < max_uses)
      and (date_start is null or date_start <= now()) and (date_end is null or date_end > now())
    returning id, role, collection, item`;

  /** Counts the guess before the password is checked, so that concurrent guesses are no more than allowed. */
  async function countGuess(share: string, ip: string | null, check: () => Promise<boolean>): Promise<boolean> {
    const ofShare = `guess ${share}`;
    const ofNetwork = `${ofShare} ${toClientNetworkKey(ip)}`;
    // A network that has used up its guesses does not use up those of the others.
    const end =
      (await limits.take(ofNetwork, GUESSES_OF_NETWORK, 1, share)) ??
      (await limits.take(ofShare, GUESSES_OF_SHARE, 1, share));
    if (end) throw tooManyGuesses(end);
    const isMatch = await check().catch(async (error) => {
      await limits.giveBack([ofNetwork, ofShare]);
      throw error;
    });
    if (isMatch) await limits.giveBack([ofNetwork, ofShare]);
    else await limits.removeEnded(share);
    return isMatch;
  }

  return async (caller, share, password) => {
    const id = isUuid(share) ? share.toLowerCase() : undefined;
    const stored = id && (await db.query<{ password: string | null }>(PASSWORD, [id])).rows[0];
    const { ip = null } = caller;
    // Without a share this takes as long as with one.
    const verify = () => passwords.verify((stored && stored.password) ?? null, password ?? '', { user: null, ip });
    const refuse = async (reason: string) => {
      await verify();
      throw fail('INVALID_CREDENTIALS', reason);
    };
    if (!id || !stored) return refuse('there is no such share');
    if (stored.password !== null && !(await countGuess(id, ip, verify)))
      throw fail('INVALID_CREDENTIALS', 'the password of the share is wrong');
    const tokens = await db.transaction(async () => {
      const { rows } = await db.query<SharedItem>(USE, [id, stored.password]);
      return rows[0] && sessions.openShare(caller, rows[0]);
    });
    if (tokens) return tokens;
    if (stored.password === null) return refuse('the share is not in force');
    throw fail('INVALID_CREDENTIALS', 'the share is not in force');
  };
}

const tooManyGuesses = (end: Date) =>
  fail('REQUESTS_EXCEEDED', 'Too many wrong passwords of this share. Try again later.', {
    limit: GUESSES_OF_NETWORK.points,
    reset: end.toISOString(),
  });

import { type Caller, fail } from '#kernel';
import type { SharedItem } from '../access/contract.ts';
import type { SessionService, SessionTokens } from '../auth/contract.ts';
import type { Db } from '../database/contract.ts';
import type { PasswordService } from '../passwords/contract.ts';

import { SHARES_COLLECTION } from './collections.ts';
import type { PasswordGuesses } from './password-guesses.ts';
import { isShareKey } from './share-key.ts';

interface Deps {
  readonly db: Db;
  readonly guesses: PasswordGuesses;
  readonly passwords: Pick<PasswordService, 'verify'>;
  readonly sessions: Pick<SessionService, 'openShare'>;
}

/**
 * Opens a session by a share and counts the use.
 * @throws INVALID_CREDENTIALS for an unknown share, a wrong password, and a share that has not begun, is over or used up;
 *   REQUESTS_EXCEEDED after too many wrong passwords; INVALID_IP; SERVICE_UNAVAILABLE
 */
export type UseShare = (caller: Caller, share: string, password: string | undefined) => Promise<SessionTokens>;

export function createUseShare({ db, guesses, passwords, sessions }: Deps): UseShare {
  const shares = db.write(SHARES_COLLECTION);
  const PASSWORD = db.sql`select password from ${shares} where id = $1`;
  // The row stays locked until the session is committed, so that no more uses than allowed succeed, and none without its session.
  const USE = db.sql`update ${shares} set times_used = times_used + 1
    where id = $1 and password is not distinct from $2 and (max_uses is null or times_used < max_uses)
      and (date_start is null or date_start <= now()) and (date_end is null or date_end > now())
    returning id, role, collection, item`;

  const countUse = (caller: Caller, share: string, password: string | null) =>
    db.transaction(async () => {
      const { rows } = await db.query<SharedItem>(USE, [share, password]);
      return rows[0] && sessions.openShare(caller, rows[0]);
    });

  return async (caller, share, password) => {
    const { ip = null } = caller;
    const verify = (stored: string | null) => passwords.verify(stored, password ?? '', { user: null, ip });
    const id = isShareKey(share) ? share.toLowerCase() : undefined;
    const found = id === undefined ? undefined : (await db.query<{ password: string | null }>(PASSWORD, [id])).rows[0];
    if (id === undefined || !found || found.password === null) {
      const tokens = id !== undefined && found ? await countUse(caller, id, null) : undefined;
      if (tokens) return tokens;
      // A password is compared whether or not there is such a share, so that all refusals of one request take as long.
      if (password !== undefined) await verify(null);
      throw fail('INVALID_CREDENTIALS', 'there is no such share, or it is not in force');
    }
    const { password: stored } = found;
    if (password === undefined) throw fail('INVALID_CREDENTIALS', 'the share has a password');
    if (!(await guesses.count(id, ip, () => verify(stored))))
      throw fail('INVALID_CREDENTIALS', 'the password of the share is wrong');
    const tokens = await countUse(caller, id, stored);
    if (!tokens) throw fail('INVALID_CREDENTIALS', 'the share is not in force');
    return tokens;
  };
}

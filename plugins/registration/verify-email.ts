import { type Caller, fail } from '#kernel';
import { delayFailures, type UserLinks } from '../auth/library.ts';
import type { Db } from '../database/contract.ts';
import { parseTextFields } from '../http/library.ts';
import type { ItemsEngine } from '../items/contract.ts';
import type { RegisteredUser, RegistrationStatements } from './statements.ts';

export interface VerifyEmailDeps {
  readonly db: Pick<Db, 'query' | 'transaction'>;
  readonly statements: RegistrationStatements;
  readonly items: Pick<ItemsEngine, 'updateOne'>;
  readonly links: UserLinks<RegisteredUser>;
  readonly systemCaller: () => Caller;
  /** LOGIN_STALL_TIME. */
  readonly stallTime: number;
}

const FIELDS = { required: { token: 4000 } } as const;

/**
 * Creates the handler that confirms an e-mail address by the token of a link. A link may be opened again, since programs that scan
 * mails open it first: the user is active already then, and nothing changes.
 */
export function createVerifyEmail({ db, statements, items, links, systemCaller, stallTime }: VerifyEmailDeps) {
  /** @throws INVALID_PAYLOAD, INVALID_TOKEN also for a link that a later registration replaced, TOKEN_EXPIRED, USER_SUSPENDED */
  return (body: unknown): Promise<void> =>
    delayFailures(stallTime, async () => {
      const claims = links.verify(parseTextFields(body, FIELDS).token);
      await db.transaction(async () => {
        const [user] = (await db.query<RegisteredUser>(statements.LOCK_BY_ID, [claims.id])).rows;
        if (!user || !links.isOf(user, claims)) throw fail('INVALID_TOKEN', 'the user has changed since the link');
        if (user.status === 'active') return;
        if (user.status !== 'unverified') throw fail('USER_SUSPENDED', `the user is ${user.status}`);
        await items.updateOne(systemCaller(), 'platform_users', user.id, { status: 'active' });
        await db.query(statements.REMOVE, [user.id]);
      });
    });
}

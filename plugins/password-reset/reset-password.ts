import { type Caller, fail } from '#kernel';
import {
  createRequestPlaces,
  delayFailures,
  PASSWORD_CHANGE_QUEUE,
  type UserLinkClaims,
  type UserLinks,
} from '../auth/library.ts';
import type { Db } from '../database/contract.ts';
import type { HttpContext } from '../http/contract.ts';
import { parseTextFields } from '../http/library.ts';
import type { ItemsEngine } from '../items/contract.ts';
import type { PasswordPolicy } from '../users/contract.ts';
import type { PasswordOwner, passwordResetStatements } from './statements.ts';

export interface ResetPasswordDeps {
  readonly db: Pick<Db, 'query' | 'transaction'>;
  readonly statements: Pick<ReturnType<typeof passwordResetStatements>, 'LOCK_USER' | 'FORGET'>;
  readonly links: UserLinks<PasswordOwner>;
  readonly items: Pick<ItemsEngine, 'updateOne'>;
  readonly policy: PasswordPolicy;
  readonly systemCaller: () => Caller;
  /** LOGIN_STALL_TIME. */
  readonly stallTime: number;
}

const FIELDS = { required: { token: 4000, password: 1000 } } as const;

/**
 * Creates the handler that sets a new password by a link. The write ends the sessions of the user and forgets the failed sign-ins, as
 * every change of a password does (`auth`).
 */
export function createResetPassword(deps: ResetPasswordDeps) {
  const { db, statements, links, items, policy, systemCaller, stallTime } = deps;
  const withPlace = createRequestPlaces(PASSWORD_CHANGE_QUEUE);

  async function setPassword(claims: UserLinkClaims, password: string): Promise<void> {
    await db.transaction(async () => {
      const [user] = (await db.query<PasswordOwner & { status: string }>(statements.LOCK_USER, [claims.id])).rows;
      if (!user || !links.isOf(user, claims)) throw fail('INVALID_TOKEN', 'the link was used, or the user has changed');
      if (user.status !== 'active') throw fail('USER_SUSPENDED', `the user is ${user.status}`);
      await items.updateOne(systemCaller(), 'platform_users', user.id, { password });
      await db.query(statements.FORGET, [user.id]);
    });
  }

  /**
   * @throws INVALID_PAYLOAD, INVALID_TOKEN also for a link that was used, TOKEN_EXPIRED, USER_SUSPENDED, Failures of FAILED_VALIDATION,
   * SERVICE_UNAVAILABLE
   */
  return (ctx: HttpContext, body: unknown): Promise<void> =>
    delayFailures(stallTime, async () => {
      const { token, password } = parseTextFields(body, FIELDS);
      const claims = links.verify(token);
      await policy.assert(password);
      await withPlace(ctx, () => setPassword(claims, password));
    });
}

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
import type { InvitationStatements, InvitedUser } from './statements.ts';

export interface AcceptInvitationDeps {
  readonly db: Pick<Db, 'query' | 'transaction'>;
  readonly statements: InvitationStatements;
  readonly links: UserLinks<InvitedUser>;
  readonly items: Pick<ItemsEngine, 'updateOne'>;
  readonly policy: PasswordPolicy;
  readonly systemCaller: () => Caller;
  /** LOGIN_STALL_TIME. */
  readonly stallTime: number;
}

const FIELDS = { required: { token: 4000, password: 1000 } } as const;

/** Creates the handler that accepts an invitation: the user gets the password and is active. Of concurrent requests one succeeds. */
export function createAcceptInvitation(deps: AcceptInvitationDeps) {
  const { db, statements, links, items, policy, systemCaller, stallTime } = deps;
  const withPlace = createRequestPlaces(PASSWORD_CHANGE_QUEUE);

  async function activate(claims: UserLinkClaims, password: string): Promise<void> {
    await db.transaction(async () => {
      const [user] = (await db.query<InvitedUser>(statements.LOCK_BY_ID, [claims.id])).rows;
      if (user?.status !== 'invited') throw fail('INVALID_PAYLOAD', 'The invitation is no longer open.');
      if (!links.isOf(user, claims)) throw fail('INVALID_TOKEN', 'the user has changed since the invitation');
      await items.updateOne(systemCaller(), 'platform_users', user.id, { password, status: 'active' });
    });
  }

  /**
   * @throws INVALID_PAYLOAD also where the user is not invited any more, INVALID_TOKEN, TOKEN_EXPIRED, Failures of FAILED_VALIDATION,
   * SERVICE_UNAVAILABLE
   */
  return (ctx: HttpContext, body: unknown): Promise<void> =>
    delayFailures(stallTime, async () => {
      const { token, password } = parseTextFields(body, FIELDS);
      const claims = links.verify(token);
      await policy.assert(password);
      await withPlace(ctx, () => activate(claims, password));
    });
}

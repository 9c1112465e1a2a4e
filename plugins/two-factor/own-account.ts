import { type Caller, fail } from '#kernel';
import { LOCAL_PROVIDER } from '../auth/contract.ts';
import type { HttpContext } from '../http/contract.ts';
import type { ItemsEngine } from '../items/contract.ts';
import type { SecondFactorStore, TwoFactorAccount } from './second-factors.ts';

const FIELD = 'tfa_secret';

interface Deps {
  readonly store: Pick<SecondFactorStore, 'account'>;
  readonly items: Pick<ItemsEngine, 'itemPermissions'>;
}

/** The account of a user who may change the own second factor. */
export interface OwnAccount extends TwoFactorAccount {
  readonly user: string;
  /** The user signs in by a password, which a change has to repeat. */
  readonly needsPassword: boolean;
}

export interface OwnAccountReader {
  /**
   * Reads the account of the caller. Its role has `enforce_tfa`, or a permission to update the own `tfa_secret`.
   * @throws INVALID_CREDENTIALS for a caller without a user, such as a share, FORBIDDEN.
   */
  ofCaller(caller: Caller): Promise<OwnAccount>;
  /** The same for a request. @throws FORBIDDEN for a static token: a program that holds it must not change how its user signs in. */
  ofRequest(ctx: HttpContext): Promise<OwnAccount>;
}

export function createOwnAccountReader({ store, items }: Deps): OwnAccountReader {
  async function mayUpdate(caller: Caller, user: string): Promise<boolean> {
    if (caller.admin) return true;
    const { update } = await items.itemPermissions(caller, 'platform_users', user);
    // `*` is all fields but the sensitive ones, of which this is one.
    return update.access && (update.fields ?? []).includes(FIELD);
  }

  function requireUser({ user, share }: Caller): string {
    if (user === null || share) throw fail('INVALID_CREDENTIALS', 'the request has no user');
    return user;
  }

  async function ofCaller(caller: Caller): Promise<OwnAccount> {
    const user = requireUser(caller);
    const account = await store.account(user);
    if (!account) throw fail('INVALID_CREDENTIALS', 'the user is gone');
    if (!account.isEnforced && !(await mayUpdate(caller, user)))
      throw fail('FORBIDDEN', `the role has neither enforce_tfa nor a permission to update the own ${FIELD}`);
    return { ...account, user, needsPassword: account.provider === LOCAL_PROVIDER && account.hasPassword };
  }

  return {
    ofCaller,
    async ofRequest({ state }) {
      requireUser(state.caller);
      if (state.usesStaticToken) throw fail('FORBIDDEN', 'second factors are managed with an access token');
      return ofCaller(state.caller);
    },
  };
}

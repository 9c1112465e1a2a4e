import { toClientNetworkKey } from '../outbound/library.ts';
import type { PasswordService } from '../passwords/contract.ts';
import type { AccountLookup } from './accounts.ts';
import type { LoginAttemptCounter } from './attempts.ts';
import type { SignInAttempts } from './contract.ts';
import { LOCAL_PROVIDER } from './driver.ts';

interface Deps {
  readonly accounts: Pick<AccountLookup, 'bySignedIn'>;
  readonly attempts: Pick<LoginAttemptCounter, 'count' | 'countCode'>;
  readonly passwords: Pick<PasswordService, 'verify'>;
}

/** The service `sign-in-attempts`, for plugins that check secrets of users. */
export const createSignInAttempts = ({ accounts, attempts, passwords }: Deps): SignInAttempts => ({
  async checkPassword(user, password, { ip = null }) {
    const account = await accounts.bySignedIn({ user });
    const stored = account?.provider === LOCAL_PROVIDER ? account.password : null;
    return attempts.count({ user }, toClientNetworkKey(ip), () => passwords.verify(stored, password, { user, ip }));
  },
  countCode: (user, { ip = null }, check) => attempts.countCode(user, toClientNetworkKey(ip), check),
});

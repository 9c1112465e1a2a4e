import { fail } from '#kernel';
import { toClientNetworkKey } from '../outbound/library.ts';
import type { PasswordService } from '../passwords/contract.ts';
import type { Account, AccountLookup } from './accounts.ts';
import type { LoginAttemptCounter } from './attempts.ts';
import type { CredentialsDriver } from './contract.ts';
import { LOCAL_PROVIDER } from './driver.ts';

interface Deps {
  readonly accounts: AccountLookup;
  readonly passwords: PasswordService;
  readonly attempts: LoginAttemptCounter;
}

const invalidCredentials = (detail: string) => fail('INVALID_CREDENTIALS', detail);

/** Sign-in by e-mail address and password: `POST /auth/login`. */
export function createLocalAuthDriver({ accounts, passwords, attempts }: Deps): CredentialsDriver<Account> {
  return {
    kind: 'credentials',
    name: 'local',
    provider: LOCAL_PROVIDER,
    schema: {
      type: 'object',
      required: ['email', 'password'],
      properties: { email: { type: 'string' }, password: { type: 'string' } },
    },
    identifiers: ['email'],
    find: ({ email }) => accounts.byEmail(email as string),
    async authenticate({ email, password }, { ip = null }, account) {
      // An unknown address and an account without a password take as long as a wrong password.
      const stored = account?.password ?? null;
      const check = () => passwords.verify(stored, password as string, { user: null, ip });
      // Attempts are counted for users of the local provider only: other users have no password that could be guessed.
      const subject = account?.provider === LOCAL_PROVIDER ? { user: account.id } : { unknown: email as string };
      const isMatch = await attempts.count(subject, toClientNetworkKey(ip), check);
      if (!account) throw invalidCredentials('no user has this e-mail address');
      if (account.provider !== LOCAL_PROVIDER) {
        throw fail('INVALID_PROVIDER', `the user signs in by ${account.provider}`);
      }
      if (!isMatch) throw invalidCredentials('wrong password');
      return accounts.signedIn(account);
    },
  };
}

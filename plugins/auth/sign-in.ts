import { type Caller, type EventsApi, fail, type IdentityApi } from '#kernel';
import type { Access } from '../access/contract.ts';
import type { Activity } from '../activity/contract.ts';
import type { clientOf } from '../http/library.ts';
import type { AccessTokens } from './access-tokens.ts';
import type { Account, Accounts } from './accounts.ts';
import type {
  AuthDriver,
  AuthStep,
  ContributedDriver,
  Credentials,
  CredentialsDriver,
  DriverTerms,
  SignedIn,
} from './contract.ts';
import { termsOf } from './driver.ts';
import { tellFailedLogin } from './failed-login.ts';
import { checkAddress } from './role-address.ts';
import type { Owner, Rotation, Sessions } from './sessions.ts';

export interface SignInDeps {
  readonly identity: IdentityApi;
  readonly access: Pick<Access, 'role'>;
  readonly accounts: Accounts;
  readonly activity: Pick<Activity, 'record'>;
  readonly events: EventsApi;
  readonly sessions: Sessions;
  readonly tokens: AccessTokens;
  /** The drivers and steps of this moment: their plugins come and go. */
  readonly drivers: () => ReadonlyMap<string, ContributedDriver>;
  readonly steps: () => readonly AuthStep[];
}

/** Both tokens of a user who signed in. */
export interface Grant {
  readonly access: string;
  readonly refresh: string;
}

/** Who asks to sign in, and what the request brought beside the credentials. */
export interface SignInRequest {
  readonly caller: Caller;
  /** Frozen: drivers and steps of other plugins see it. */
  readonly client: ReturnType<typeof clientOf>;
  readonly otp: string | undefined;
}

export interface SignIn {
  /** Signs in by credentials that fit the driver's schema. */
  login(driver: CredentialsDriver, credentials: Credentials, request: SignInRequest): Promise<Grant>;
  /** Signs in a user whom `driver` has authenticated by itself. */
  open(driver: AuthDriver, signedIn: SignedIn, request: SignInRequest): Promise<Grant>;
  refresh(token: string, request: Omit<SignInRequest, 'otp'>): Promise<Grant>;
}

const wrong = (detail: string) => fail('INVALID_CREDENTIALS', detail);

export function createSignIn(deps: SignInDeps): SignIn {
  const { identity, access, accounts, activity, events, sessions, tokens, drivers, steps } = deps;

  async function accessToken(owner: Owner, type: 'login' | 'refresh', caller: Caller): Promise<string> {
    const claims = {
      id: owner.id,
      role: owner.role,
      app_access: owner.app_access ?? false,
      admin_access: owner.admin_access ?? false,
    };
    const about = { caller, status: 'pending', user: owner.id, provider: owner.provider, type };
    return tokens.sign(await events.filter(['auth.jwt'], claims, about));
  }

  /** From the verified credential to the session. `payload` is what the action `auth.login` shows. */
  async function begin(account: Account, terms: DriverTerms, request: SignInRequest, payload: object): Promise<Grant> {
    const { caller, client } = request;
    if (account.provider !== terms.provider && !terms.anyProvider)
      throw fail('INVALID_PROVIDER', `the user signs in by ${account.provider}`);
    const attempt = attemptOf(account, terms, request);
    for (const step of steps()) await step.check(attempt);
    const access = await accessToken(account, 'login', caller);
    const refresh = await sessions.open(account, client);
    if (refresh === undefined) throw wrong('the account changed while signing in');
    const user = identity.mint('user', { ...caller, ...client, user: account.id });
    await activity.record(user, { action: 'login', collection: 'platform_users', item: account.id });
    const { provider } = terms;
    events.action(['auth.login'], { caller, user: account.id, provider, status: 'success', payload });
    return { access, refresh };
  }

  return {
    async login(driver, credentials, request) {
      const { caller, client } = request;
      const terms = termsOf(drivers(), driver);
      const shown = Object.fromEntries(driver.identifiers.map((name) => [name, credentials[name]]));
      const found = await driver.find?.(credentials);
      const about = { caller, user: found?.id, provider: terms?.provider };
      return tellFailedLogin(events, about, shown, async () => {
        const filtered = await events.filter(['auth.login'], credentials, { ...about, status: 'pending' });
        const signedIn = await driver.authenticate(filtered, client, found);
        // The driver's plugin may have been unloaded meanwhile.
        if (!terms || termsOf(drivers(), driver) !== terms)
          throw fail('INVALID_PROVIDER', 'the driver is no longer there');
        return begin(await accountOf(accounts, signedIn), terms, request, shown);
      });
    },

    async open(driver, signedIn, request) {
      const terms = termsOf(drivers(), driver);
      if (!terms)
        throw fail('CAPABILITY_DENIED', 'a session is opened by a driver that is contributed to auth.drivers');
      const account = await accountOf(accounts, signedIn);
      const about = { caller: request.caller, user: account.id, provider: terms.provider };
      // The external identifier is a secret of its user.
      return tellFailedLogin(events, about, {}, async () => {
        await events.filter(['auth.login'], {}, { ...about, status: 'pending' });
        return begin(account, terms, request, {});
      });
    },

    async refresh(presented, { client, caller }) {
      const rotated = await sessions.rotate(presented, client);
      if (rotated.state !== 'renewed') throw refusalOf(rotated.state);
      const { owner, token } = rotated;
      try {
        await checkAddress(access, owner.role, client.ip);
      } catch (error) {
        await sessions.close(token);
        throw error;
      }
      return { access: await accessToken(owner, 'refresh', caller), refresh: token };
    },
  };
}

async function accountOf(accounts: Pick<SignInDeps['accounts'], 'of'>, signedIn: SignedIn): Promise<Account> {
  const account = await accounts.of(signedIn);
  if (!account) throw wrong('no user is the one who was authenticated');
  return account;
}

function refusalOf(state: Exclude<Rotation['state'], 'renewed'>) {
  switch (state) {
    case 'expired':
      return fail('TOKEN_EXPIRED', 'the refresh token is too old');
    case 'inactive':
      return fail('USER_SUSPENDED', 'the user is not active');
    case 'unknown':
      return wrong('unknown refresh token');
  }
}

/** Steps of other plugins see no hash and no secret, and cannot change what later steps see. */
const attemptOf = (account: Account, { name, provider }: DriverTerms, { client, otp }: SignInRequest) =>
  Object.freeze({
    user: Object.freeze({
      id: account.id,
      status: account.status,
      role: account.role,
      hasSecondFactor: account.tfa_secret !== null,
    }),
    provider,
    driver: name,
    client,
    otp,
  });

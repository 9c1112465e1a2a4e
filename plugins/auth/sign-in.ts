import { randomUUID } from 'node:crypto';
import { type Caller, type EventsApi, fail, type IdentityApi } from '#kernel';
import type { AccessControl } from '../access/contract.ts';
import type { HistoryRecorder } from '../activity/contract.ts';
import type { clientInfoOf } from '../http/library.ts';
import type { AccessTokenCodec } from './access-tokens.ts';
import type { Account, AccountLookup } from './accounts.ts';
import type { LoginAttemptCounter } from './attempts.ts';
import type {
  AuthDriver,
  AuthDriverInfo,
  AuthenticatedUser,
  ContributedAuthDriver,
  Credentials,
  CredentialsDriver,
  SignInCheckStep,
  VerifiedSignIn,
} from './contract.ts';
import { authDriverInfoOf } from './driver.ts';
import { withFailedLoginEvent } from './failed-login-event.ts';
import { assertAddressAllowedForRole } from './role-ip-access.ts';
import type { RefreshOutcome, SessionOwner, SessionStore } from './sessions.ts';
import type { ShareSessions } from './share-sessions.ts';
import { createAccessTokenSigner } from './sign-access-token.ts';
import { isSecondFactorStep } from './step.ts';

export interface SignInDeps {
  readonly identity: IdentityApi;
  readonly access: Pick<AccessControl, 'role'>;
  readonly accounts: AccountLookup;
  readonly activity: Pick<HistoryRecorder, 'record'>;
  readonly attempts: Pick<LoginAttemptCounter, 'reset'>;
  readonly events: EventsApi;
  readonly sessions: SessionStore;
  readonly shareSessions: Pick<ShareSessions, 'refresh'>;
  readonly tokens: AccessTokenCodec;
  /** The drivers and steps that are contributed now: plugins are loaded and unloaded while the service runs. */
  readonly drivers: () => ReadonlyMap<string, ContributedAuthDriver>;
  readonly steps: () => readonly SignInCheckStep[];
}

/** Both tokens of a user who signed in. */
export interface TokenPair {
  readonly access: string;
  readonly refresh: string;
  /** The id of the session; undefined for visitors of shares. */
  readonly session?: string;
}

/** A sign-in request without its credentials. */
export interface SignInRequest {
  readonly caller: Caller;
  /** Frozen, because drivers and steps of other plugins receive it. */
  readonly client: ReturnType<typeof clientInfoOf>;
  readonly otp: string | undefined;
}

export interface SignInHandler {
  /** Signs in by credentials that fit the driver's schema. */
  login(driver: CredentialsDriver, credentials: Credentials, request: SignInRequest): Promise<TokenPair>;
  /** Opens a session for a user whom `driver` has authenticated on its own routes. */
  open(driver: AuthDriver, signedIn: AuthenticatedUser, request: SignInRequest): Promise<TokenPair>;
  refresh(token: string, request: Omit<SignInRequest, 'otp'>): Promise<TokenPair>;
}

/** A credential that a driver has verified, with the account of its user. */
interface VerifiedCredential {
  readonly account: Account;
  readonly terms: AuthDriverInfo;
  readonly isSecondFactorVerified: boolean;
}

const secondsNow = () => Math.floor(Date.now() / 1000);
const invalidCredentials = (detail: string) => fail('INVALID_CREDENTIALS', detail);

export function createSignInHandler(deps: SignInDeps): SignInHandler {
  const { identity, accounts, activity, attempts, events, sessions, shareSessions, drivers, steps } = deps;
  const accessToken = createAccessTokenSigner(deps);

  /** Opens a session after the credential was verified. `payload` is what the action `auth.login` shows. */
  async function openSession(
    credential: VerifiedCredential,
    request: SignInRequest,
    payload: object,
  ): Promise<TokenPair> {
    const { account, terms } = credential;
    const { caller, client } = request;
    if (account.provider !== terms.provider && !terms.anyProvider)
      throw fail('INVALID_PROVIDER', `the user signs in by ${account.provider}`);
    await runSteps(steps(), toSignInAttempt(credential, request));
    // A right password alone does not reset the count: the one-time codes after it could be guessed for ever.
    await attempts.reset(account.id);
    const session = randomUUID();
    const access = await accessToken(account, { id: session, signedInAt: secondsNow() }, 'login', caller);
    const refresh = await sessions.open(account, client, session);
    if (refresh === undefined) throw invalidCredentials('the account changed while signing in');
    const user = identity.mint('user', { ...caller, ...client, user: account.id });
    await activity.record(user, { action: 'login', collection: 'platform_users', item: account.id });
    const { provider } = terms;
    events.action(['auth.login'], { caller, user: account.id, provider, status: 'success', payload });
    return { access, refresh, session };
  }

  return {
    async login(driver, credentials, request) {
      const { caller, client } = request;
      const terms = authDriverInfoOf(drivers(), driver);
      const shown = Object.fromEntries(driver.identifiers.map((name) => [name, credentials[name]]));
      const found = await driver.find?.(credentials);
      const about = { caller, user: found?.id, provider: terms?.provider };
      return withFailedLoginEvent(events, about, shown, async () => {
        const filtered = await events.filter(['auth.login'], credentials, { ...about, status: 'pending' });
        const signedIn = await driver.authenticate(filtered, client, found);
        // The driver's plugin may have been unloaded meanwhile.
        if (!terms || authDriverInfoOf(drivers(), driver) !== terms)
          throw fail('INVALID_PROVIDER', 'the driver is no longer there');
        return openSession(await readCredential(accounts, signedIn, terms), request, shown);
      });
    },

    async open(driver, signedIn, request) {
      const terms = authDriverInfoOf(drivers(), driver);
      if (!terms)
        throw fail('CAPABILITY_DENIED', 'a session is opened by a driver that is contributed to auth.drivers');
      const credential = await readCredential(accounts, signedIn, terms);
      const about = { caller: request.caller, user: credential.account.id, provider: terms.provider };
      // The events show no payload: the external identifier is a secret of its user.
      return withFailedLoginEvent(events, about, {}, async () => {
        await events.filter(['auth.login'], {}, { ...about, status: 'pending' });
        return openSession(credential, request, {});
      });
    },

    async refresh(presented, { client, caller }) {
      const rotated = await sessions.rotate(presented, client);
      if (rotated.state === 'reused')
        events.action(['auth.reuse'], { caller, user: rotated.user, session: rotated.session });
      if (rotated.state === 'unknown') return shareSessions.refresh(presented, client);
      if (rotated.state !== 'renewed') throw refusalOf(rotated.state);
      const { owner, token, session, signedInAt } = rotated;
      try {
        await assertRefreshable(deps, owner, client.ip);
      } catch (error) {
        await sessions.close(token);
        throw error;
      }
      return {
        access: await accessToken(owner, { id: session, signedInAt }, 'refresh', caller),
        refresh: token,
        session,
      };
    },
  };
}

async function readCredential(
  accounts: Pick<SignInDeps['accounts'], 'bySignedIn'>,
  signedIn: AuthenticatedUser,
  terms: AuthDriverInfo,
): Promise<VerifiedCredential> {
  const account = await accounts.bySignedIn(signedIn, terms.provider);
  if (!account) throw invalidCredentials('the authenticated user does not exist');
  // Only a driver that declares it may answer for a second factor.
  const isSecondFactorVerified = terms.verifiesSecondFactor === true && signedIn.isSecondFactorVerified === true;
  return { account, terms, isSecondFactorVerified };
}

/** Asserts that the session of this user may go on. @throws INVALID_IP, and what the driver of the user's provider throws */
async function assertRefreshable(
  { access, drivers }: SignInDeps,
  owner: SessionOwner,
  ip: string | null,
): Promise<void> {
  await assertAddressAllowedForRole(access, owner.role, ip);
  await drivers().get(owner.provider)?.driver.refresh?.({ id: owner.id });
}

function refusalOf(state: Exclude<RefreshOutcome['state'], 'renewed' | 'unknown'>) {
  switch (state) {
    case 'expired':
      return fail('TOKEN_EXPIRED', 'the refresh token is too old');
    case 'inactive':
      return fail('USER_SUSPENDED', 'the user is not active');
    case 'reused':
      return invalidCredentials('the refresh token was spent before: its session is ended');
  }
}

/** @throws what a step throws, and INVALID_OTP for a user with a second factor that neither the driver nor a step verifies. */
async function runSteps(steps: readonly SignInCheckStep[], attempt: VerifiedSignIn): Promise<void> {
  for (const step of steps) await step.check(attempt);
  const { user, isSecondFactorVerified } = attempt;
  // The plugin that verifies second factors may have failed to load, and such a user must not sign in without one.
  if (user.hasSecondFactor && !isSecondFactorVerified && !steps.some(isSecondFactorStep))
    throw fail('INVALID_OTP', 'no plugin verifies second factors');
}

/** Steps of other plugins receive neither hash nor secret, and cannot change what later steps receive. */
const toSignInAttempt = (
  { account, terms: { name, provider }, isSecondFactorVerified }: VerifiedCredential,
  { client, otp }: SignInRequest,
): VerifiedSignIn =>
  Object.freeze({
    user: Object.freeze({
      id: account.id,
      status: account.status,
      role: account.role,
      hasSecondFactor: account.tfa_secret !== null,
    }),
    provider,
    driver: name,
    isSecondFactorVerified,
    client,
    otp,
  });

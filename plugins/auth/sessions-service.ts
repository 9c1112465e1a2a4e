import { type Caller, fail } from '#kernel';
import type { CredentialsDriver, SessionService, SessionTokens } from './contract.ts';
import { delayFailures } from './failure-delay.ts';
import type { RefreshCookie } from './refresh-cookie.ts';
import type { SessionStore } from './sessions.ts';
import type { ShareSessions } from './share-sessions.ts';
import type { SignInHandler, TokenPair } from './sign-in.ts';

interface Deps {
  readonly signIn: SignInHandler;
  readonly sessions: SessionStore;
  readonly shareSessions: ShareSessions;
  readonly cookie: RefreshCookie;
  /** Milliseconds. */
  readonly accessLifetime: number;
  /** The driver of e-mail address and password; undefined where AUTH_DISABLE_DEFAULT is on. */
  readonly local: CredentialsDriver | undefined;
  /** Milliseconds that a failed sign-in takes. */
  readonly stallTime: number;
}

const clientOf = ({ ip = null, userAgent = null, origin = null }: Caller) => Object.freeze({ ip, userAgent, origin });

/** The service `sessions`, for plugins that sign users in. */
export function createSessionService({
  signIn,
  sessions,
  shareSessions,
  cookie,
  accessLifetime,
  local,
  stallTime,
}: Deps): SessionService {
  const tokens = ({ access, refresh, session }: TokenPair): SessionTokens => ({
    accessToken: access,
    refreshToken: refresh,
    expires: accessLifetime,
    session,
  });

  return {
    signIn: (caller, { email, password, otp }) =>
      delayFailures(stallTime, async () => {
        if (!local) throw fail('INVALID_PROVIDER', 'sign-in by e-mail address and password is off');
        return tokens(await signIn.login(local, { email, password }, { caller, client: clientOf(caller), otp }));
      }),
    open: async (caller, driver, signedIn, { otp } = {}) =>
      tokens(await signIn.open(driver, signedIn, { caller, client: clientOf(caller), otp })),
    openShare: async (caller, share) => tokens(await shareSessions.open(share, clientOf(caller))),
    closeShares: (shares) => shareSessions.closeOf(shares),
    refresh: async (caller, refreshToken) =>
      tokens(await signIn.refresh(refreshToken, { caller, client: clientOf(caller) })),
    close: (refreshToken) => sessions.close(refreshToken),
    closeOf: (users) => sessions.closeOf(users),
    async signOut(ctx, refreshToken) {
      const fromCookie = cookie.read(ctx);
      const token = refreshToken ?? fromCookie;
      if (token !== undefined) await sessions.close(token);
      if (fromCookie !== undefined) cookie.clear(ctx);
      return token !== undefined;
    },
    writeCookie: (ctx, refreshToken) => cookie.write(ctx, refreshToken),
  };
}

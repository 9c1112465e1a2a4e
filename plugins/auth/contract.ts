import { authorities, type Caller, facet, service } from '#kernel';
import type { SharedItem } from '../access/contract.ts';
import type { HttpContext } from '../http/contract.ts';
import {
  type AuthClientInfo,
  type AuthDriver,
  type AuthenticatedUser,
  authDriversByProvider,
  type ContributedAuthDriver,
  validateAuthDriver,
} from './driver.ts';
import { type SignInCheckStep, validateSignInCheckStep } from './step.ts';

/** Services for core plugins alone: links, attempts, proofs of presence, sealed values, settings of providers. */
export {
  type AuthProviderVariables,
  authProviderVariables,
  type LinkTokens,
  linkTokens,
  type ReauthenticatedUser,
  type Reauthentication,
  reauthentication,
  type SealedValues,
  type SignInAttempts,
  sealedValues,
  signInAttempts,
} from './core-services.ts';
export type {
  AuthClientInfo,
  AuthDriver,
  AuthDriverHooks,
  AuthDriverInfo,
  AuthenticatedUser,
  ContributedAuthDriver,
  Credentials,
  CredentialsDriver,
  RedirectSignInDriver,
} from './driver.ts';
/** The provider of users who sign in by e-mail address and password. */
export { LOCAL_PROVIDER } from './driver.ts';
export type { SignInCheckStep, VerifiedSignIn } from './step.ts';

/** The bus channel on which a change of a user's status, token or role is announced, with null. */
export const USER_STATUS_CHANGED_CHANNEL = 'auth.user-status';

/** Callers for plugins that act on behalf of a user outside of a request: by a token, for a user, for the Public role. */
export interface CallerProvider {
  /**
   * Whether the request brings an access token that was signed for an admin and has not expired. The database is not read, so the
   * admin may be suspended since: only for the health report of a service whose database is down.
   */
  isSignedAdmin(ctx: HttpContext): boolean;
  /**
   * The caller of an access token or a static token, by the same checks as a request with it.
   * @throws INVALID_TOKEN for an access token whose signature or form is wrong, TOKEN_EXPIRED, INVALID_CREDENTIALS for an unknown
   * token and a deleted user, USER_SUSPENDED for a user who is not active, INVALID_IP where the role is bound to addresses and
   * `client.ip` is none of them.
   */
  ofToken(token: string, client?: AuthClientInfo): Promise<Caller>;
  /**
   * The caller of an active user, with the current role and its flags. The addresses of the role are not checked, since the user
   * sends no request.
   * @throws INVALID_CREDENTIALS for an id that no user has, USER_SUSPENDED for a user who is not active.
   */
  ofUser(id: string, client?: AuthClientInfo): Promise<Caller>;
  /**
   * The callers of all active users among these, by their ids and in the order of the ids, read in one statement. Other users are
   * left out.
   */
  ofUsers(ids: readonly string[], client?: AuthClientInfo): Promise<ReadonlyMap<string, Caller>>;
  /**
   * The user whom the session cookie of a request names, for pages that a browser opens; undefined without a valid session, and where
   * a page of another host sends the request, unless a person follows a link there. Nothing of the session changes.
   */
  ofSessionCookie(ctx: HttpContext): Promise<Caller | undefined>;
  /** A caller without a user. @throws INVALID_IP where the Public role is bound to addresses and `client.ip` is none of them. */
  ofPublic(client?: AuthClientInfo): Promise<Caller>;
  /**
   * The caller whom a listener of the filter `websocket.authenticate` names for a message by which a client of a socket authenticates;
   * undefined where there is no listener, or they leave it to the credentials in the message.
   * @throws INTERNAL_SERVER_ERROR where a listener answers what is no accountability, INVALID_IP as `ofPublic`, and what listeners throw.
   */
  ofSocketMessage(message: Readonly<Record<string, unknown>>, client?: AuthClientInfo): Promise<Caller | undefined>;
}

/** For core plugins alone: with it a plugin can act as every user. */
export const identity = service<CallerProvider>('identity', { version: '1.0.0', coreOnly: true });

const names = { type: 'array', minItems: 1, items: { type: 'string', pattern: '^[a-z][a-z0-9-]*$' } } as const;

/**
 * Ways to sign in, by provider. The manifest section lists the names of a plugin's drivers; `anyName` is for the plugin that contributes
 * the drivers of others.
 */
export const authDrivers = facet<AuthDriver, ReadonlyMap<string, ContributedAuthDriver>>('auth.drivers', {
  combine: authDriversByProvider,
  manifest: {
    type: 'object',
    additionalProperties: false,
    properties: {
      names: { ...names, minItems: 0 },
      anyProvider: { const: true },
      anyName: { const: true },
      verifiesSecondFactor: { const: true },
    },
  },
  validate: validateAuthDriver,
  describe: ({ names: drivers = [], anyProvider, anyName, verifiesSecondFactor }) =>
    authorities(
      'identifies callers as',
      anyName ? ['users by any driver'] : drivers.map((name: string) => `users by ${name}`),
      `at sign-in${anyProvider ? ', those of every provider' : ''}${verifiesSecondFactor ? ', in place of a second factor' : ''}`,
    ),
});

/** Checks between credential and session, in their order. The manifest section lists the names of a plugin's steps. */
export const authSteps = facet<SignInCheckStep, readonly SignInCheckStep[]>('auth.steps', {
  combine: (all) => all.map(({ value }) => value).toSorted((a, b) => a.order - b.order),
  manifest: {
    type: 'object',
    additionalProperties: false,
    properties: { names, verifiesSecondFactor: { const: true } },
  },
  validate: validateSignInCheckStep,
  describe: ({ names: steps = [], verifiesSecondFactor }) =>
    authorities(
      'may reject',
      ['sign-in'],
      `steps: ${steps.join(', ')}${verifiesSecondFactor ? '; verifies second factors' : ''}`,
    ),
});

/**
 * Path prefixes whose requests `auth` does not identify, without a slash at the end: the plugin that serves them verifies tokens of its own.
 * The caller of such a request is the Public role, whatever token it brings.
 */
export const ownTokenPaths = facet<string, readonly string[]>('auth.own-token-paths', {
  combine: (all) => all.map(({ value }) => value),
  manifest: {
    type: 'object',
    additionalProperties: false,
    required: ['prefixes'],
    properties: { prefixes: { type: 'array', minItems: 1, items: { type: 'string', pattern: '^/[a-z0-9/_-]+$' } } },
  },
  validate: (path, declared) => declared.prefixes.includes(path) || `${path} is not declared`,
  describe: ({ prefixes }) => authorities('serves', prefixes, 'with tokens that it verifies itself'),
  coreOnly: true,
});

/** What a user who signed in receives. */
export interface SessionTokens {
  readonly accessToken: string;
  readonly refreshToken: string;
  /** How long the access token is valid, in milliseconds. */
  readonly expires: number;
  /** The id of the session, as of `OpenSession`; undefined for visitors of shares. */
  readonly session?: string | undefined;
}

/** Sessions of users: every way to sign in ends in `open`. `caller` is the caller of the request, with its client. */
export interface SessionService {
  /**
   * Signs in by e-mail address and password, as `POST /auth/login` in mode `json`: a failure takes LOGIN_STALL_TIME.
   * @throws INVALID_PROVIDER where AUTH_DISABLE_DEFAULT is on, INVALID_CREDENTIALS, INVALID_OTP, USER_SUSPENDED, and what filters throw.
   */
  signIn(
    caller: Caller,
    credentials: { readonly email: string; readonly password: string; readonly otp?: string | undefined },
  ): Promise<SessionTokens>;
  /**
   * Opens a session for a user whom `driver` has authenticated: the filter `auth.login`, the steps of `auth.steps`, the filter
   * `auth.jwt`, the row, the activity and the action `auth.login`, as by `POST /auth/login`.
   * @param driver the very object that the calling plugin contributed to `auth.drivers`
   * @throws CAPABILITY_DENIED for a driver that is not contributed at this moment, INVALID_CREDENTIALS for a user who does not
   * exist or changed meanwhile, INVALID_PROVIDER for a user of another provider, and what steps and filters throw.
   */
  open(
    caller: Caller,
    driver: AuthDriver,
    signedIn: AuthenticatedUser,
    options?: { readonly otp?: string },
  ): Promise<SessionTokens>;
  /**
   * Opens a session for a visitor of a share that is in force, within the unit of work where there is one. A share keeps its 1,000
   * latest sessions. Sessions and access tokens are refused once the share is over.
   * @throws INVALID_IP where the share's role is bound to addresses and the caller's is none of them.
   */
  openShare(caller: Caller, share: SharedItem): Promise<SessionTokens>;
  /** Ends all sessions of these shares, within the unit of work where there is one. */
  closeShares(shares: readonly string[]): Promise<void>;
  /**
   * Exchanges a refresh token for new tokens; the old one is invalid from then on.
   * @throws INVALID_CREDENTIALS for an unknown token and for a share that is over, TOKEN_EXPIRED, USER_SUSPENDED, INVALID_IP.
   */
  refresh(caller: Caller, refreshToken: string): Promise<SessionTokens>;
  /** Ends the session of a refresh token, if there is one. Access tokens stay valid until they expire. */
  close(refreshToken: string): Promise<void>;
  /** Ends all sessions of these users, within the unit of work where there is one. */
  closeOf(users: readonly string[]): Promise<void>;
  /**
   * Ends the session of the token, or else that of the browser's cookie, and takes the cookie from the browser, as `POST /auth/logout`.
   * False where there is neither.
   */
  signOut(ctx: HttpContext, refreshToken: string | undefined): Promise<boolean>;
  /** Puts the refresh token into the cookie of the mode `cookie`: for sign-ins that end in a redirect. */
  writeCookie(ctx: HttpContext, refreshToken: string): void;
}

/** An open session, by an id that is no secret. Its refresh token cannot be read. */
export interface OpenSession {
  readonly id: string;
  /** When the user signed in, and when the session was opened or refreshed last; null where an earlier version opened it. */
  readonly created: Date | null;
  readonly lastUsed: Date | null;
  readonly expires: Date;
  /** The client of the sign-in or of the last refresh. */
  readonly client: AuthClientInfo;
}

/** The open sessions of users, to be shown and ended. Access tokens of an ended session stay valid until they expire. */
export interface SessionDirectory {
  /** The open sessions of a user, the one used last first. */
  list(user: string, page: { readonly limit: number; readonly offset: number }): Promise<readonly OpenSession[]>;
  /** Ends one session, and records that the caller did; false where the user has no such session. */
  end(caller: Caller, user: string, session: string): Promise<boolean>;
  /**
   * Ends all sessions of a user, except the session `kept`, and records that the caller did. Answers how many there were.
   */
  endOthers(caller: Caller, user: string, kept?: string): Promise<number>;
  /**
   * The session of the access token of a request; undefined for a static token, for a request without a token, and for
   * a token of an earlier version.
   */
  currentOf(ctx: HttpContext): string | undefined;
}

/** For core plugins alone: with it a plugin can end the sessions of every user. */
export const sessionDirectory = service<SessionDirectory>('session-directory', {
  version: '1.0.0',
  coreOnly: true,
  callers: { end: 0, endOthers: 0 },
});

/** For plugins that sign users in by ways of their own. */
export const sessions = service<SessionService>('sessions', {
  version: '1.0.0',
  callers: { signIn: 0, open: 0, openShare: 0, refresh: 0 },
});

/** A way to sign in beside e-mail address and password, as sign-in pages show it. */
export interface SignInProvider {
  /** The last part of `/auth/login/<provider>`. */
  readonly provider: string;
  /** Name of the driver: `ldap`, `openid`, `passkey`. */
  readonly driver: string;
  /** What a person reads; null where the driver has no label. */
  readonly label: string | null;
  /** Name of an icon; null where the driver has none. */
  readonly icon: string | null;
  /** JSON schema of the credentials that are posted; undefined for providers that the browser is redirected to. */
  readonly schema: Readonly<Record<string, unknown>> | undefined;
}

/** The ways to sign in at this moment. */
export interface SignInProviders {
  /** Whether sign-in by e-mail address and password is off (`AUTH_DISABLE_DEFAULT`). */
  readonly isDefaultDisabled: boolean;
  /** All providers but the default one, in the order of `GET /auth`. */
  current(): readonly SignInProvider[];
}

/** For plugins that show ways to sign in. */
export const signInProviders = service<SignInProviders>('sign-in-providers', { version: '1.0.0' });

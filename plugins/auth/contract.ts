import { authorities, type Caller, facet, service } from '#kernel';
import type { HttpContext } from '../http/contract.ts';
import {
  type AuthClientInfo,
  type AuthDriver,
  type AuthenticatedUser,
  authDriversByProvider,
  type ContributedAuthDriver,
  validateAuthDriver,
} from './driver.ts';

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
  /** A caller without a user. @throws INVALID_IP where the Public role is bound to addresses and `client.ip` is none of them. */
  ofPublic(client?: AuthClientInfo): Promise<Caller>;
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
    required: ['names'],
    properties: { names: { ...names, minItems: 0 }, anyProvider: { const: true }, anyName: { const: true } },
  },
  validate: validateAuthDriver,
  describe: ({ names: drivers, anyProvider, anyName }) =>
    authorities(
      'identifies callers as',
      anyName ? ['users by any driver'] : drivers.map((name: string) => `users by ${name}`),
      anyProvider ? 'at sign-in, those of every provider' : 'at sign-in',
    ),
});

/** A sign-in whose credential is verified, as the steps receive it before the session is opened. */
export interface VerifiedSignIn {
  readonly user: {
    readonly id: string;
    /** `active`, or why the user may not sign in: `suspended`, `archived`, `invited`, `draft`. */
    readonly status: string;
    readonly role: string | null;
    /** The user has set up a second factor. */
    readonly hasSecondFactor: boolean;
  };
  readonly provider: string;
  /** The name of the driver that verified the credential. */
  readonly driver: string;
  readonly client: AuthClientInfo;
  /** The one-time password of the request, unchecked; undefined where it brought none. */
  readonly otp: string | undefined;
}

/** A check between the verified credential and the session, such as a second factor. */
export interface SignInCheckStep {
  /** One of the names that the manifest declares. */
  readonly name: string;
  /** Steps run by this number, smaller first. `auth` itself has `status` 100, `second-factor` 200 and `address` 300. */
  readonly order: number;
  /** @throws the Failure that the client is answered in place of tokens: INVALID_OTP, INVALID_IP, USER_SUSPENDED and so on. */
  check(attempt: VerifiedSignIn): Promise<void> | void;
}

/** Checks between credential and session, in their order. The manifest section lists the names of a plugin's steps. */
export const authSteps = facet<SignInCheckStep, readonly SignInCheckStep[]>('auth.steps', {
  combine: (all) => all.map(({ value }) => value).toSorted((a, b) => a.order - b.order),
  manifest: { type: 'object', additionalProperties: false, required: ['names'], properties: { names } },
  validate: ({ name }, declared) => declared.names.includes(name) || `the step ${name} is not declared`,
  describe: (declared) => authorities('may reject', ['sign-in'], `steps: ${declared.names.join(', ')}`),
});

/** What a user who signed in receives. */
export interface SessionTokens {
  readonly accessToken: string;
  readonly refreshToken: string;
  /** How long the access token is valid, in milliseconds. */
  readonly expires: number;
}

/** Sessions of users: every way to sign in ends in `open`. `caller` is the caller of the request, with its client. */
export interface SessionService {
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
   * Exchanges a refresh token for new tokens; the old one is invalid from then on.
   * @throws INVALID_CREDENTIALS for an unknown token, TOKEN_EXPIRED, USER_SUSPENDED, INVALID_IP.
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

/** For plugins that sign users in by ways of their own. */
export const sessions = service<SessionService>('sessions', { version: '1.0.0', callers: { open: 0, refresh: 0 } });

/**
 * Signed tokens for links in mails: password resets, invitations, confirmations. Nothing of them is stored, so a plugin whose link
 * may be used once puts into the claims what changes with its use, such as a digest of the current password, and compares.
 */
export interface LinkTokens {
  /**
   * @param purpose what the token is for, such as `password-reset`: it is refused for anything else, and as an access token
   * @param claims the holder of the token can read them, so never secrets
   * @param lifetime milliseconds
   */
  sign(purpose: string, claims: Readonly<Record<string, unknown>>, lifetime: number): string;
  /**
   * The claims of a token.
   * @throws INVALID_TOKEN for a token that is malformed, signed by another secret, or for another purpose, TOKEN_EXPIRED.
   */
  verify(purpose: string, token: string): Readonly<Record<string, unknown>>;
}

/** For core plugins alone: with it a plugin could sign the links of others. */
export const linkTokens = service<LinkTokens>('link-tokens', { version: '1.0.0', coreOnly: true });

/** The settings of sign-in providers as the administrator wrote them, secrets included. */
export interface AuthProviderVariables {
  /** AUTH_PROVIDERS: the names of the providers in their order; undefined where it is not set. */
  readonly providers: readonly string[] | undefined;
  /** All environment variables that begin with `AUTH_`, as text by name; `AUTH_<NAME>_<KEY>_FILE` is one like any other. */
  readonly variables: Readonly<Record<string, string>>;
}

/** For the plugin that opens providers. */
export const authProviderVariables = service<AuthProviderVariables>('auth-provider-variables', {
  version: '1.0.0',
  coreOnly: true,
});

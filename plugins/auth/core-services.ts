import { service } from '#kernel';
import type { HttpContext } from '../http/contract.ts';
import type { AuthClientInfo } from './driver.ts';

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

/**
 * Checks of secrets of a user outside of a sign-in, and of one-time codes. A wrong one counts as a failed sign-in over all processes, and
 * suspends the user after `auth_login_attempts` of them. A right one does not reset the count: only a completed sign-in does.
 */
export interface SignInAttempts {
  /**
   * Whether this is the password of the user; false for a user who has none, or who signs in by another provider.
   * @throws USER_SUSPENDED where the attempts are used up, SERVICE_UNAVAILABLE with `retryAfter` where too many are being checked.
   */
  checkPassword(user: string, password: string, client: AuthClientInfo): Promise<boolean>;
  /**
   * Runs `check`, which answers whether a one-time code is right, as an attempt. Where `auth_login_attempts` is null the user is not
   * suspended, and has one attempt in ten seconds after the first wrong ones: a code is short enough to be guessed.
   * @throws USER_SUSPENDED where the attempts are used up, SERVICE_UNAVAILABLE with `retryAfter` where too many are being checked, and
   * what `check` throws, which does not count.
   */
  countCode(user: string, client: AuthClientInfo, check: () => Promise<boolean>): Promise<boolean>;
}

/** For core plugins alone: with it a plugin could use up the attempts of any user. */
export const signInAttempts = service<SignInAttempts>('sign-in-attempts', { version: '1.0.0', coreOnly: true });
/** A user who has proved anew who acts. */
export interface ReauthenticatedUser {
  /** Key of the user. */
  readonly user: string;
  /** SHA-256 of the stored hash of the password as hexadecimal text, of the empty text where there is none: changes with the password. */
  readonly passwordDigest: string;
}

/** Asks for more than an access token, which may be stolen, before something lasting such as a new way to sign in. */
export interface Reauthentication {
  /**
   * Users with a password bring it, and it counts as an attempt to sign in. The access token of users without one, and of users with a
   * second factor, must be of a session that was opened in the last five minutes: its claim `auth_time` says when. A refusal takes
   * LOGIN_STALL_TIME at least.
   * @param password what the client sent, unchecked
   * @throws INVALID_CREDENTIALS for a wrong password and without a user, and with `reason` `recent_sign_in_required` where the user has
   * to sign in anew; INVALID_PAYLOAD without a password; FORBIDDEN for a static token; USER_SUSPENDED; SERVICE_UNAVAILABLE.
   */
  confirm(ctx: HttpContext, password: unknown): Promise<ReauthenticatedUser>;
}

/** For core plugins alone: with it a plugin could try passwords of users. */
export const reauthentication = service<Reauthentication>('reauthentication', { version: '1.0.0', coreOnly: true });

/** Encrypts what a page has to hold until the next request, such as credentials between password and one-time code. */
export interface SealedValues {
  /**
   * @param purpose what the value is for; it opens for nothing else
   * @param holder what the value is bound to, such as a random text in a cookie
   * @param value JSON as data
   * @param lifetime milliseconds
   */
  seal(purpose: string, holder: string, value: unknown, lifetime: number): string;
  /** @throws INVALID_TOKEN for another purpose or holder and for a changed text, TOKEN_EXPIRED. */
  open(purpose: string, holder: string, text: string): unknown;
}

/** For core plugins alone: its keys are made of the secret of all tokens. */
export const sealedValues = service<SealedValues>('sealed-values', { version: '1.0.0', coreOnly: true });

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

import { randomBytes } from 'node:crypto';
import { type EventsApi, fail } from '#kernel';
import type { LinkTokens } from '../auth/contract.ts';
import type { HttpContext } from '../http/contract.ts';
import { clientInfoOf, sendData } from '../http/library.ts';
import { toClientNetworkKey } from '../outbound/library.ts';
import type { ProviderProfile, ProviderSignIns, ProviderSignOut, RedirectProviderDriver } from './contract.ts';
import { withFailedSignInEvent } from './failed-sign-in-event.ts';
import { codeOf, type ThrottledLog } from './failure-log.ts';
import type { OpenProvider } from './providers.ts';
import { sendRedirect } from './redirect-response.ts';
import { parseRedirectTarget, withReason } from './redirect-target.ts';
import {
  answerOf,
  awaitCode,
  completeWithCode,
  isSecure,
  rememberOrigin,
  type SecondFactorDeps,
  type SignInAnswer,
} from './second-factor.ts';
import { createSignInCookie, type PendingSignIn, SIGN_IN_LIFETIME } from './sign-in-cookie.ts';
import { createSignOutCookie } from './sign-out-cookie.ts';

interface Deps extends SecondFactorDeps {
  readonly resolve: (provider: OpenProvider, profile: ProviderProfile) => Promise<ResolvedUser>;
  readonly linkTokens: LinkTokens;
  readonly logFailure: ThrottledLog;
  readonly events: Pick<EventsApi, 'action'>;
}

/** The user whom a provider means. */
export interface ResolvedUser {
  /** Key of the user. */
  readonly user: string;
  readonly isSecondFactorVerified: boolean;
}

/** The query of a request that begins a sign-in. */
export interface SignInQuery {
  readonly redirect?: unknown;
  readonly mode?: unknown;
  readonly prompt?: unknown;
}

/** Sign-ins by redirect, for the routes of this plugin and of others. */
export interface SignInFlow extends ProviderSignIns {
  /**
   * Completes a sign-in that waits for a code. A wrong code counts as a failed sign-in of the user, and the ticket can be used again.
   * @throws INVALID_OTP, INVALID_TOKEN for a ticket that is used or not of this browser, TOKEN_EXPIRED, and what `sessions.open` throws
   */
  completeWithCode(
    ctx: HttpContext,
    provider: string,
    code: { readonly otp: string; readonly ticket: string | undefined },
  ): Promise<SignInAnswer>;
  begin(ctx: HttpContext, provider: string, query: SignInQuery): Promise<void>;
  logout(ctx: HttpContext, provider: string, redirect: unknown): Promise<void>;
}

export function createSignInFlow(deps: Deps): SignInFlow {
  const { find, sessions } = deps;

  return {
    async begin(ctx, name, { redirect, mode, prompt }) {
      const provider = find(ctx, name);
      const target = targetOf(deps, provider, redirect);
      const signInMode = parseMode(mode, target, provider.settings.value('MODE'));
      if (prompt !== undefined && (typeof prompt !== 'string' || !/^[a-z_ ]{1,64}$/.test(prompt)))
        throw fail('INVALID_QUERY', '"prompt" must be a text such as login.', { path: ['prompt'] });
      const state = randomBytes(32).toString('base64url');
      try {
        const { location, keep } = await provider.settings.boundedCall(
          (call) => redirectDriverOf(provider).begin({ ...call, state, prompt, header: headerReader(ctx) }),
          clientOf(ctx),
        );
        cookieOf(deps, provider).write(ctx, { state, redirect: target?.href, mode: signInMode, keep });
        sendRedirect(ctx, location);
      } catch (error) {
        failAt(deps, ctx, provider, target, error);
      }
    },

    async complete(ctx, name, { state, parameters }) {
      const provider = find(ctx, name);
      ctx.set('Cache-Control', 'no-store');
      const pending = cookieOf(deps, provider).take(ctx, state);
      // The address was checked at the begin, and the cookie is signed.
      const target = pending.redirect === undefined ? undefined : new URL(pending.redirect);
      try {
        const { user, signOut } = await proveUser(deps, ctx, provider, pending, parameters);
        if (signOut?.hint !== undefined) signOutCookieOf(provider).write(ctx, signOut.hint);
        const tokens = await sessions.open(ctx.state.caller, provider.authDriver, user).catch((error) => {
          if (codeOf(error) !== 'INVALID_OTP') throw error;
          const { mode, redirect } = pending;
          awaitCode(deps, ctx, provider, { user: user.user, mode, redirect, signOut: namesOf(signOut) });
        });
        if (!tokens) return;
        await rememberOrigin(deps, provider, { user: user.user, signOut }, tokens);
        const answer = answerOf(deps, ctx, pending, tokens);
        if (target) return sendRedirect(ctx, target);
        sendData(ctx, answer);
      } catch (error) {
        failAt(deps, ctx, provider, target, error);
      }
    },

    completeWithCode: (ctx, name, code) => completeWithCode(deps, ctx, name, code),

    async logout(ctx, name, redirect) {
      const provider = find(ctx, name);
      const target = targetOf(deps, provider, redirect);
      const hint = signOutCookieOf(provider).take(ctx);
      const location = await provider.settings.boundedCall(
        async (call) => redirectDriverOf(provider).logout?.(target, { ...call, hint }),
        clientOf(ctx),
      );
      const end = location ?? target;
      if (!end) throw fail('ROUTE_NOT_FOUND', `The provider ${name} has no sign-out.`, { path: ctx.path });
      sendRedirect(ctx, end);
    },
  };
}

export const redirectDriverOf = ({ driver }: OpenProvider): RedirectProviderDriver => driver as RedirectProviderDriver;

export const clientOf = (ctx: HttpContext): string => toClientNetworkKey(clientInfoOf(ctx).ip);

const headerReader =
  ({ req }: HttpContext) =>
  (name: string): string | undefined => {
    const value = req.headers[name];
    return Array.isArray(value) ? value.join(', ') : value;
  };

function cookieOf({ linkTokens }: Deps, provider: OpenProvider) {
  const { settings, declaration } = provider;
  const url = new URL(settings.urlOf(''));
  return createSignInCookie({
    provider: settings.name,
    path: url.pathname.replace(/\/$/, ''),
    secure: isSecure(provider),
    crossSite: declaration.kind === 'redirect' && declaration.ownCallback?.crossSite === true,
    linkTokens,
  });
}

const signOutCookieOf = (provider: OpenProvider) =>
  createSignOutCookie(provider.settings.name, provider.settings.urlOf('logout'), isSecure(provider));

/** What a ticket keeps of it. */
const namesOf = (signOut: ProviderSignOut | undefined) =>
  signOut && { subject: signOut.subject, session: signOut.session };

const targetOf = ({ publicUrl }: Deps, { settings }: OpenProvider, redirect: unknown) =>
  parseRedirectTarget(redirect, publicUrl, settings.value<readonly string[]>('REDIRECT_ALLOW_LIST'));

/** Ends a failed sign-in at the page that began it, where there is one. */
function failAt(deps: Deps, ctx: HttpContext, provider: OpenProvider, target: URL | undefined, error: unknown): void {
  const code = codeOf(error);
  // That a code is needed is ordinary.
  if (code !== 'INVALID_OTP') deps.logFailure(provider.settings.name, code, error);
  if (target === undefined) throw error;
  sendRedirect(ctx, withReason(target, code));
}

/** What the provider proves. A failure is announced as that of credentials is. */
async function proveUser(
  { resolve, events }: Deps,
  ctx: HttpContext,
  provider: OpenProvider,
  { state, keep }: PendingSignIn,
  parameters: URLSearchParams,
): Promise<{ readonly user: ResolvedUser; readonly signOut: ProviderSignOut | undefined }> {
  const { settings } = provider;
  const { caller } = ctx.state;
  return withFailedSignInEvent(events, { caller, provider: settings.name }, async () => {
    if (!(await settings.useOnce(`state ${state}`, SIGN_IN_LIFETIME)))
      throw fail('INVALID_TOKEN', 'this sign-in was completed before');
    assertNoRepeatedParameter(parameters);
    const profile = await settings.boundedCall(
      (call) => redirectDriverOf(provider).finish({ ...call, parameters, state, keep, header: headerReader(ctx) }),
      clientOf(ctx),
    );
    return { user: await resolve(provider, profile), signOut: profile.signOut };
  });
}

function parseMode(mode: unknown, target: URL | undefined, byDefault: 'json' | 'cookie'): 'json' | 'cookie' {
  if (mode === undefined) return target ? 'cookie' : byDefault;
  if (mode !== 'json' && mode !== 'cookie')
    throw fail('INVALID_QUERY', '"mode" must be json or cookie.', { path: ['mode'] });
  // Tokens in an address would be in histories, logs and referrers.
  if (mode === 'json' && target)
    throw fail('INVALID_QUERY', '"mode" json answers the tokens: it has no "redirect".', { path: ['mode'] });
  return mode;
}

/** Of two values one part of the code could check the first and another use the second. */
function assertNoRepeatedParameter(parameters: URLSearchParams): void {
  const names = [...parameters.keys()];
  if (new Set(names).size < names.length) throw fail('INVALID_CREDENTIALS', 'the callback has a parameter twice');
}

import { fail } from '#kernel';
import type { SealedValues, SessionService, SessionTokens } from '../auth/contract.ts';
import type { HttpContext } from '../http/contract.ts';
import type { ProviderSignOut } from './contract.ts';
import type { ProviderSessions } from './provider-sessions.ts';
import type { OpenProvider } from './providers.ts';
import { sendRedirect } from './redirect-response.ts';
import { type AwaitedCode, createSecondFactorTickets, TICKET_LIFETIME } from './second-factor-tickets.ts';
import type { SingleUse } from './single-use.ts';

export interface SecondFactorDeps {
  /** @throws ROUTE_NOT_FOUND for a provider that does not exist or is none of redirects, INVALID_PROVIDER */
  readonly find: (ctx: HttpContext, provider: string) => OpenProvider;
  readonly sealedValues: SealedValues;
  readonly sessions: SessionService;
  readonly singleUse: Pick<SingleUse, 'use' | 'release'>;
  /** Whether there is a page that asks for codes, at `CODE_PAGE`. */
  readonly hasCodePage: () => boolean;
  readonly publicUrl: string;
  readonly providerSessions: Pick<ProviderSessions, 'remember'>;
}

/** The tokens of a sign-in as an answer; in the mode `cookie` the refresh token is in the cookie alone. */
export interface SignInAnswer {
  readonly access_token: string;
  /** Milliseconds. */
  readonly expires: number;
  readonly refresh_token?: string;
  /** Where the sign-in was to end. */
  readonly redirect?: string;
}

/** The path below PUBLIC_URL of the page that asks for a code, with `?provider=`. */
export const CODE_PAGE = '/admin/login/code';

/**
 * Leads the browser to the page that asks for a code, or says how to go on. @throws INVALID_OTP with `continue_at` and, in the mode
 * `json`, `ticket`
 */
export function awaitCode(
  deps: SecondFactorDeps,
  ctx: HttpContext,
  provider: OpenProvider,
  awaited: Omit<AwaitedCode, 'id'>,
): undefined {
  const { name } = provider.settings;
  const ticket = ticketsOf(deps, provider).issue(ctx, awaited);
  if (awaited.redirect !== undefined && deps.hasCodePage()) {
    const page = new URL(`${deps.publicUrl}${CODE_PAGE}`);
    page.searchParams.set('provider', name);
    sendRedirect(ctx, page);
    return;
  }
  const continueAt = `/auth/login/${encodeURIComponent(name)}/otp`;
  throw fail('INVALID_OTP', 'the sign-in has no one-time code', {
    continue_at: continueAt,
    ...(ticket === undefined ? {} : { ticket }),
  });
}

/** Keeps what the provider calls user and session of a session that was opened. */
export async function rememberOrigin(
  { providerSessions }: Pick<SecondFactorDeps, 'providerSessions'>,
  { settings }: OpenProvider,
  { user, signOut }: { readonly user: string; readonly signOut: ProviderSignOut | undefined },
  { session }: SessionTokens,
): Promise<void> {
  if (!signOut || session === undefined) return;
  const { subject, session: providerSession } = signOut;
  await providerSessions.remember(session, { provider: settings.name, user, subject, session: providerSession });
}

export function answerOf(
  { sessions }: SecondFactorDeps,
  ctx: HttpContext,
  { mode }: Pick<AwaitedCode, 'mode'>,
  { accessToken, refreshToken, expires }: SessionTokens,
): SignInAnswer {
  if (mode === 'cookie') sessions.writeCookie(ctx, refreshToken);
  return { access_token: accessToken, expires, ...(mode === 'json' ? { refresh_token: refreshToken } : {}) };
}

/** As of `SignInFlow`. */
export async function completeWithCode(
  deps: SecondFactorDeps,
  ctx: HttpContext,
  name: string,
  { otp, ticket }: { readonly otp: string; readonly ticket: string | undefined },
): Promise<SignInAnswer> {
  const { sessions } = deps;
  const provider = deps.find(ctx, name);
  const tickets = ticketsOf(deps, provider);
  const { id, user, ...pending } = tickets.open(ctx, ticket);
  const use = `ticket ${id}`;
  if (!(await deps.singleUse.use(name, use, TICKET_LIFETIME))) throw fail('INVALID_TOKEN', 'the ticket is used');
  try {
    const tokens = await sessions.open(ctx.state.caller, provider.authDriver, { user }, { otp });
    await rememberOrigin(deps, provider, { user, signOut: pending.signOut }, tokens);
    if (pending.mode === 'cookie') tickets.clear(ctx);
    const { redirect } = pending;
    return { ...answerOf(deps, ctx, pending, tokens), ...(redirect === undefined ? {} : { redirect }) };
  } catch (error) {
    await deps.singleUse.release(name, use);
    throw error;
  }
}

/** Cookies are sent by https only. */
export const isSecure = ({ settings }: OpenProvider): boolean =>
  settings.value<boolean | undefined>('COOKIE_SECURE') ?? settings.urlOf('').startsWith('https:');

const ticketsOf = ({ sealedValues, publicUrl }: SecondFactorDeps, provider: OpenProvider) =>
  createSecondFactorTickets({
    provider: provider.settings.name,
    path: new URL(publicUrl).pathname,
    secure: isSecure(provider),
    sealed: sealedValues,
  });

import type { Profile } from '@node-saml/node-saml';
import { Failure, fail } from '#kernel';
import type { SessionService } from '../auth/contract.ts';
import { type createFailureLog, parseRedirectTarget } from '../auth-providers/library.ts';
import type { HttpContext } from '../http/contract.ts';
import { nameOf, type SamlName, timeOf } from './assertion.ts';
import type { SamlProvider } from './driver.ts';
import type { IdentityProvider } from './idp-metadata.ts';
import { createSamlClient, toSignedAddress } from './library-client.ts';
import type { LogoutCookie } from './logout-cookie.ts';
import { assertAddressedTo, screenMessage } from './message.ts';
import type { UsersByName } from './users-by-name.ts';
import { attributeOf, childNamed, NAMESPACES } from './xml.ts';

interface Deps {
  readonly sessions: Pick<SessionService, 'closeOf' | 'signOut'>;
  readonly users: UsersByName;
  readonly publicUrl: string;
  /** Writes to the log why a message of the provider is refused. */
  readonly logFailure: ReturnType<typeof createFailureLog>;
}

/** Single logout. Each method answers the address that the browser goes on to; undefined where it stays. */
export interface SamlLogout {
  /**
   * Ends the session here, and begins the logout at the provider of the user of this browser.
   * @throws INVALID_CREDENTIALS without any session, INVALID_QUERY for a `redirect` that is not allowed, SERVICE_UNAVAILABLE
   */
  begin(
    ctx: HttpContext,
    provider: SamlProvider,
    cookie: LogoutCookie,
    fields: LogoutFields,
  ): Promise<string | undefined>;
  /** Ends all sessions of the user whom a request of the provider names. @throws INVALID_CREDENTIALS for what is no such request */
  answer(provider: SamlProvider, form: URLSearchParams): Promise<string | undefined>;
  /** Takes the answer of the provider to a logout that began here. @throws INVALID_CREDENTIALS for what is no such answer */
  finish(provider: SamlProvider, form: URLSearchParams): Promise<string | undefined>;
}

/** What a client sends to begin a logout. */
export interface LogoutFields {
  readonly refresh_token?: unknown;
  readonly redirect?: unknown;
}

/** Milliseconds for which a request of the provider counts, and for which its id is kept. */
const REQUEST_LIFETIME = 5 * 60_000;
const MAX_RELAY_STATE = 1000;

export function createSamlLogout({ sessions, users, publicUrl, logFailure }: Deps): SamlLogout {
  const targetOf = ({ settings }: SamlProvider, redirect: unknown) =>
    parseRedirectTarget(redirect ?? undefined, publicUrl, settings.value<readonly string[]>('REDIRECT_ALLOW_LIST'));

  async function prove<T>({ settings }: SamlProvider, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (error instanceof Failure) throw error;
      const failure = fail('INVALID_CREDENTIALS', `a logout is refused: ${(error as Error)?.message ?? error}`);
      logFailure(settings.name, failure.code, failure);
      throw failure;
    }
  }

  return {
    async begin(ctx, provider, cookie, { refresh_token, redirect }) {
      const target = targetOf(provider, redirect);
      const name = cookie.take(ctx);
      const hadSession = await sessions.signOut(ctx, typeof refresh_token === 'string' ? refresh_token : undefined);
      if (!hadSession && !name) throw fail('INVALID_CREDENTIALS', 'the browser has no session and brings no token');
      if (!name) return target?.href;
      const idp = await currentIdp(provider);
      if (idp.logoutUrl === undefined) return target?.href;
      const client = await createSamlClient(idp, provider.sp, { tolerance: provider.tolerance });
      return toSignedAddress(await client.getLogoutUrlAsync(toProfile(name), target?.href ?? '', {})).href;
    },

    async answer(provider, form) {
      const idp = await currentIdp(provider);
      const request = await prove(provider, () => proveRequest(provider, idp, form.get('SAMLRequest') ?? ''));
      await sessions.closeOf(await users.find(provider.settings.name, request.name.nameID));
      if (idp.logoutResponseUrl === undefined) return undefined;
      const client = await createSamlClient(idp, provider.sp, {
        tolerance: provider.tolerance,
        options: { logoutUrl: idp.logoutResponseUrl },
      });
      const relayState = (form.get('RelayState') ?? '').slice(0, MAX_RELAY_STATE);
      const profile = { ...toProfile(request.name), ID: request.id };
      return toSignedAddress(await client.getLogoutResponseUrlAsync(profile, relayState, {}, true)).href;
    },

    async finish(provider, form) {
      const idp = await currentIdp(provider);
      await prove(provider, () => proveResponse(provider, idp, form.get('SAMLResponse') ?? ''));
      try {
        return targetOf(provider, form.get('RelayState') || undefined)?.href;
      } catch {
        // The browser may have changed it: it is not signed.
        return undefined;
      }
    },
  };
}

const currentIdp = ({ settings, idps }: SamlProvider) => settings.call((call) => idps.current(call));

/** @throws Error with what is wrong */
async function proveRequest({ settings, sp, tolerance }: SamlProvider, idp: IdentityProvider, posted: string) {
  const { root, base64 } = screenMessage(posted, 'LogoutRequest');
  assertAddressedTo(root, sp.logoutUrl, idp.entityId);
  const client = await createSamlClient(idp, sp, { tolerance });
  await client.validatePostRequestAsync({ SAMLRequest: base64 });
  const issued = timeOf(root, 'IssueInstant') ?? Number.NaN;
  if (!(Math.abs(Date.now() - issued) <= REQUEST_LIFETIME + tolerance)) throw new Error('the request is too old');
  const nameId = childNamed(root, NAMESPACES.assertion, 'NameID');
  if (!nameId) throw new Error('the request has no NameID');
  const id = attributeOf(root, 'ID') ?? '';
  if (!(await settings.useOnce(`logout ${id}`, 2 * (REQUEST_LIFETIME + tolerance))))
    throw fail('INVALID_CREDENTIALS', 'the request of a logout was used before');
  return { id, name: nameOf(nameId, undefined) };
}

/** @throws Error with what is wrong */
async function proveResponse({ sp, tolerance }: SamlProvider, idp: IdentityProvider, posted: string): Promise<void> {
  const message = screenMessage(posted, 'LogoutResponse');
  assertAddressedTo(message.root, sp.logoutUrl, idp.entityId);
  const client = await createSamlClient(idp, sp, { tolerance });
  await client.validatePostResponseAsync({ SAMLResponse: message.base64 });
}

const toProfile = (name: SamlName): Profile => ({ issuer: '', ...name }) as Profile;

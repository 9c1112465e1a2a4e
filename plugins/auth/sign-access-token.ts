import type { Caller, EventsApi } from '#kernel';
import type { AccessTokenCodec } from './access-tokens.ts';
import type { SessionOwner } from './sessions.ts';

interface Deps {
  readonly events: Pick<EventsApi, 'filter'>;
  readonly tokens: Pick<AccessTokenCodec, 'sign'>;
}

/** The session that an access token belongs to. */
export interface SessionOfToken {
  readonly id: string;
  /** When the user signed in, in seconds since 1970; null for a session that an earlier version opened. */
  readonly signedInAt: number | null;
}

/** Signs an access token of a session, with the claims that the filter `auth.jwt` answers. */
export type SignAccessToken = (
  owner: SessionOwner,
  session: SessionOfToken,
  type: 'login' | 'refresh',
  caller: Caller,
) => Promise<string>;

export const createAccessTokenSigner =
  ({ events, tokens }: Deps): SignAccessToken =>
  async (owner, session, type, caller) => {
    const claims = {
      id: owner.id,
      role: owner.role,
      app_access: owner.app_access ?? false,
      admin_access: owner.admin_access ?? false,
      session: session.id,
    };
    const about = { caller, status: 'pending', user: owner.id, provider: owner.provider, type };
    const filtered = await events.filter(['auth.jwt'], claims, about);
    // `reauthentication` relies on this claim, which is therefore no filter's to change.
    return tokens.sign({ ...filtered, ...(session.signedInAt === null ? {} : { auth_time: session.signedInAt }) });
  };

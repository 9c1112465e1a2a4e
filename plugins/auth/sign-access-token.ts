import type { Caller, EventsApi } from '#kernel';
import type { AccessTokenCodec } from './access-tokens.ts';
import type { SessionOwner } from './sessions.ts';

interface Deps {
  readonly events: Pick<EventsApi, 'filter'>;
  readonly tokens: Pick<AccessTokenCodec, 'sign'>;
}

/** Signs an access token of a session, with the claims that the filter `auth.jwt` answers. */
export type SignAccessToken = (
  owner: SessionOwner,
  session: string,
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
      session,
    };
    const about = { caller, status: 'pending', user: owner.id, provider: owner.provider, type };
    return tokens.sign(await events.filter(['auth.jwt'], claims, about));
  };

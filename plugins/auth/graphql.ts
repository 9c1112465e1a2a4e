import type { ContributedGraphqlField } from '../graphql/contract.ts';
import type { AuthRequestHandlers, TokenAnswer } from './auth-requests.ts';

interface Deps {
  readonly entry: AuthRequestHandlers;
  readonly disableDefault: boolean;
}

const MODE = 'enum auth_mode { json cookie }';
const TOKENS = 'type auth_tokens { access_token: String expires: BigInt refresh_token: String }';

/**
 * Login, refresh and logout as GraphQL mutations. A document may have login and refresh once each, because it could make hundreds
 * of attempts otherwise.
 */
export function authGraphqlFields({ entry, disableDefault }: Deps): readonly ContributedGraphqlField[] {
  const login: ContributedGraphqlField = {
    scope: 'system',
    operation: 'mutation',
    definition: 'auth_login(email: String!, password: String!, mode: auth_mode, otp: String): auth_tokens',
    types: `${MODE} ${TOKENS}`,
    once: true,
    resolve: async (args, { ctx }) => shown(await entry.login(ctx, args)),
  };

  const refresh: ContributedGraphqlField = {
    scope: 'system',
    operation: 'mutation',
    definition: 'auth_refresh(refresh_token: String, mode: auth_mode): auth_tokens',
    types: `${MODE} ${TOKENS}`,
    once: true,
    resolve: async (args, { ctx }) => shown(await entry.refresh(ctx, args)),
  };

  const logout: ContributedGraphqlField = {
    scope: 'system',
    operation: 'mutation',
    definition: 'auth_logout(refresh_token: String, mode: auth_mode): Boolean',
    types: MODE,
    async resolve(args, { ctx }) {
      await entry.logout(ctx, args);
      return true;
    },
  };

  return [...(disableDefault ? [] : [login]), refresh, logout];
}

/** GraphQL sends a `BigInt` as text, and null for a token that is in the cookie. */
const shown = (tokens: TokenAnswer) => ({ refresh_token: null, ...tokens, expires: String(tokens.expires) });

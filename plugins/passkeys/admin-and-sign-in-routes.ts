import { fail } from '#kernel';
import type { HttpContext, Route } from '../http/contract.ts';
import { sendData } from '../http/library.ts';
import type { PasskeyChallenges } from './challenges.ts';
import type { PasskeyStore } from './passkey-store.ts';
import {
  LIST_OF_USER_ROUTE_DESCRIPTION,
  REMOVE_ALL_OF_USER_ROUTE_DESCRIPTION,
  REMOVE_OF_USER_ROUTE_DESCRIPTION,
  SIGN_IN_OPTIONS_ROUTE_DESCRIPTION,
} from './route-descriptions.ts';
import type { WebAuthn } from './webauthn.ts';

/** The routes by which admins look after the passkeys of users. */
export function adminPasskeyRoutes(store: PasskeyStore): readonly Route[] {
  return [
    {
      method: 'GET',
      path: '/users/:id/passkeys',
      description: LIST_OF_USER_ROUTE_DESCRIPTION,
      async handle(ctx) {
        assertAdmin(ctx);
        sendData(ctx, await store.list(ctx.params.id as string));
      },
    },
    {
      method: 'DELETE',
      path: '/users/:id/passkeys',
      description: REMOVE_ALL_OF_USER_ROUTE_DESCRIPTION,
      async handle(ctx) {
        assertAdmin(ctx);
        await store.removeAll(ctx.state.caller, ctx.params.id as string);
        sendData(ctx, undefined);
      },
    },
    {
      method: 'DELETE',
      path: '/users/:id/passkeys/:passkey',
      description: REMOVE_OF_USER_ROUTE_DESCRIPTION,
      async handle(ctx) {
        assertAdmin(ctx);
        const { id, passkey } = ctx.params as { id: string; passkey: string };
        await store.remove(ctx.state.caller, id, passkey);
        sendData(ctx, undefined);
      },
    },
  ];
}

interface SignInOptionsDeps {
  readonly challenges: PasskeyChallenges;
  /** @throws INVALID_CONFIG where passkeys cannot work. */
  readonly webauthn: () => WebAuthn;
}

/** Answers the options of a sign-in. Nothing is stored, and the body stays unread. */
export const signInOptionsRoute = ({ challenges, webauthn }: SignInOptionsDeps): Route => ({
  method: 'POST',
  path: '/auth/login/passkey/options',
  description: SIGN_IN_OPTIONS_ROUTE_DESCRIPTION,
  body: 'unread',
  async handle(ctx) {
    const options = await webauthn().createSignInOptions(challenges.createForSignIn());
    ctx.set('Cache-Control', 'no-store');
    sendData(ctx, options);
  },
});

function assertAdmin({ state }: HttpContext): void {
  if (!state.caller.admin) throw fail('FORBIDDEN', 'passkeys of other users are for admins');
}

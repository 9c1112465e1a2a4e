import type { RegistrationResponseJSON } from '@simplewebauthn/server';
import { fail, findJsonSchemaProblems } from '#kernel';
import type { HttpContext, JsonSchema, Route } from '../http/contract.ts';
import { bodyOf, sendData } from '../http/library.ts';
import type { PasskeyStore } from './passkey-store.ts';
import type { PasskeyRegistration } from './registration.ts';
import {
  BEGIN_BODY_SCHEMA,
  BEGIN_ROUTE_DESCRIPTION,
  FINISH_BODY_SCHEMA,
  FINISH_ROUTE_DESCRIPTION,
  LIST_OWN_ROUTE_DESCRIPTION,
  REMOVE_OWN_ROUTE_DESCRIPTION,
  RENAME_BODY_SCHEMA,
  RENAME_ROUTE_DESCRIPTION,
} from './route-descriptions.ts';

const PATH = '/users/me/passkeys';
const DEFAULT_NAME = 'Passkey';

interface Deps {
  readonly store: PasskeyStore;
  readonly registration: PasskeyRegistration;
}

/** The routes by which users manage their own passkeys. */
export function ownPasskeyRoutes({ store, registration }: Deps): readonly Route[] {
  return [
    {
      method: 'POST',
      path: `${PATH}/options`,
      description: BEGIN_ROUTE_DESCRIPTION,
      async handle(ctx) {
        requirePresentUser(ctx);
        const { password } = parseBody<{ password?: string }>(ctx, BEGIN_BODY_SCHEMA);
        const options = await registration.begin(ctx, password);
        ctx.set('Cache-Control', 'no-store');
        sendData(ctx, options);
      },
    },
    {
      method: 'POST',
      path: PATH,
      description: FINISH_ROUTE_DESCRIPTION,
      async handle(ctx) {
        const user = requirePresentUser(ctx);
        type Body = { credential: RegistrationResponseJSON; name?: string };
        const { credential, name = DEFAULT_NAME } = parseBody<Body>(ctx, FINISH_BODY_SCHEMA);
        sendData(ctx, await registration.finish(ctx, user, credential, name.trim()));
      },
    },
    {
      method: 'GET',
      path: PATH,
      description: LIST_OWN_ROUTE_DESCRIPTION,
      handle: async (ctx) => sendData(ctx, await store.list(requireUser(ctx))),
    },
    {
      method: 'PATCH',
      path: `${PATH}/:passkey`,
      description: RENAME_ROUTE_DESCRIPTION,
      async handle(ctx) {
        const user = requirePresentUser(ctx);
        const { name } = parseBody<{ name: string }>(ctx, RENAME_BODY_SCHEMA);
        sendData(ctx, await store.rename(ctx.state.caller, user, ctx.params.passkey as string, name.trim()));
      },
    },
    {
      method: 'DELETE',
      path: `${PATH}/:passkey`,
      description: REMOVE_OWN_ROUTE_DESCRIPTION,
      async handle(ctx) {
        await store.remove(ctx.state.caller, requirePresentUser(ctx), ctx.params.passkey as string);
        sendData(ctx, undefined);
      },
    },
  ];
}

/** @throws INVALID_CREDENTIALS for a caller without a user */
function requireUser(ctx: HttpContext): string {
  const { user } = ctx.state.caller;
  if (user === null) throw fail('INVALID_CREDENTIALS', 'the request has no user');
  return user;
}

/** @throws INVALID_CREDENTIALS for a caller without a user, FORBIDDEN for a static token, which stands in scripts of the user */
function requirePresentUser(ctx: HttpContext): string {
  const user = requireUser(ctx);
  if (ctx.state.usesStaticToken) throw fail('FORBIDDEN', 'a static token changes no passkeys');
  return user;
}

/** @throws INVALID_PAYLOAD */
function parseBody<Body>(ctx: HttpContext, schema: JsonSchema): Body {
  const body = bodyOf(ctx) ?? {};
  const wrong = findJsonSchemaProblems(schema, body);
  if (wrong.length > 0) throw fail('INVALID_PAYLOAD', wrong.join('; '));
  return body as Body;
}

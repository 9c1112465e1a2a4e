import type { HttpContext, Route } from '../http/contract.ts';
import { parsedQueryStringOf } from '../http/library.ts';
import { codeRoute } from './code-route.ts';
import { readFormBody } from './form-body.ts';
import {
  BEGIN_ROUTE_DESCRIPTION,
  CALLBACK_ROUTE_DESCRIPTION,
  FORM_CALLBACK_ROUTE_DESCRIPTION,
  LOGOUT_ROUTE_DESCRIPTION,
} from './route-descriptions.ts';
import type { SignInFlow } from './sign-in-flow.ts';

interface Deps {
  readonly flow: SignInFlow;
  /** @throws ROUTE_NOT_FOUND where the plugin of the driver serves the callback itself */
  readonly assertCallback: (ctx: HttpContext, provider: string) => void;
}

/** Bytes of a form that a provider posts to the callback: a code, or why there is none. */
const MAX_FORM = 16 * 1024;

const providerOf = (ctx: HttpContext): string => ctx.params.provider as string;

/** Sign-in by redirect to a provider, and its callback. */
export function providerRoutes({ flow, assertCallback }: Deps): readonly Route[] {
  return [
    codeRoute(flow),
    {
      method: 'GET',
      path: '/auth/login/:provider',
      description: BEGIN_ROUTE_DESCRIPTION,
      handle: (ctx) => flow.begin(ctx, providerOf(ctx), parsedQueryStringOf(ctx)),
    },
    {
      method: 'GET',
      path: '/auth/login/:provider/callback',
      description: CALLBACK_ROUTE_DESCRIPTION,
      async handle(ctx) {
        assertCallback(ctx, providerOf(ctx));
        const parameters = new URLSearchParams(ctx.querystring);
        await flow.complete(ctx, providerOf(ctx), { state: parameters.get('state'), parameters });
      },
    },
    {
      method: 'POST',
      path: '/auth/login/:provider/callback',
      description: FORM_CALLBACK_ROUTE_DESCRIPTION,
      body: 'unread',
      // With a form of another site browsers send no cookie. With the redirect that follows it they do.
      async handle(ctx) {
        assertCallback(ctx, providerOf(ctx));
        const form = await readFormBody(ctx, MAX_FORM);
        ctx.status = 303;
        ctx.set({ Location: `?${form}`, 'Cache-Control': 'no-store', 'Referrer-Policy': 'no-referrer' });
        ctx.body = null;
        ctx.status = 303;
      },
    },
    {
      method: 'GET',
      path: '/auth/login/:provider/logout',
      description: LOGOUT_ROUTE_DESCRIPTION,
      handle: (ctx) => flow.logout(ctx, providerOf(ctx), parsedQueryStringOf(ctx).redirect),
    },
  ];
}

import type { Caller } from '#kernel';
import type { HttpContext, Route } from '../../http/contract.ts';
import { renderSubmit } from '../fields.ts';
import { html, type SafeHtml } from '../html.ts';
import { failWithPage } from '../page-failures.ts';
import { passCookies, queryParameterOf, redirectTo, rootOf } from '../page-response.ts';
import type { PageTools } from '../page-tools.ts';
import { codeOf, problemOf, sentenceOf } from '../problems.ts';
import { describePage, describePageForm, LOGIN_PARAMETERS } from '../route-descriptions.ts';

interface Person {
  readonly first_name?: string | null;
  readonly last_name?: string | null;
  readonly email?: string | null;
}

const renderSignOutForm = (ctx: HttpContext, { forms }: PageTools): SafeHtml =>
  html`<form method="post" action="${rootOf(ctx)}/admin/logout">
${forms.renderField(ctx)}
${renderSubmit('Sign out')}
</form>`;

/** `/admin`: says who is signed in. A console takes this path over by a plugin that serves it in place of this route. */
export function startPageRoute(tools: PageTools): Route {
  const { api, identity, sendPage } = tools;

  /** The name and address of the user, as far as the user may read them. */
  async function nameOf(ctx: HttpContext, caller: Caller): Promise<string> {
    const path = '/users/me?fields=first_name,last_name,email';
    const { body } = await api.send(ctx, { method: 'GET', path, caller });
    const { first_name, last_name, email } = (body as { data?: Person } | undefined)?.data ?? {};
    const name = [first_name, last_name].filter(Boolean).join(' ');
    return name && email ? `${name} (${email})` : name || email || `user ${caller.user}`;
  }

  return {
    method: 'GET',
    path: '/admin',
    description: describePage('Says who is signed in, or redirects to the sign-in page.', {
      reason: LOGIN_PARAMETERS.reason,
    }),
    async handle(ctx) {
      const caller = await identity.ofSessionCookie(ctx);
      if (!caller) {
        const reason = queryParameterOf(ctx, 'reason');
        const known = reason !== undefined && sentenceOf(reason) !== undefined;
        return redirectTo(ctx, `${rootOf(ctx)}/admin/login${known ? `?reason=${reason}` : ''}`);
      }
      await sendPage(ctx, {
        title: 'You are signed in',
        lead: `As ${await nameOf(ctx, caller)}.`,
        body: renderSignOutForm(ctx, tools),
      });
    },
  };
}

/** `/admin/logout`: a button ends the session. Opening the address ends nothing, since any page can link to it. */
export function logoutRoutes(tools: PageTools): readonly Route[] {
  const { api, forms, routing, sendPage } = tools;
  return [
    {
      method: 'GET',
      path: '/admin/logout',
      description: describePage('Shows a button that ends the session of the browser.'),
      handle: (ctx) => sendPage(ctx, { title: 'Sign out', body: renderSignOutForm(ctx, tools) }),
    },
    {
      method: 'POST',
      path: '/admin/logout',
      body: 'unread',
      description: describePageForm('Ends the session of the browser.'),
      async handle(ctx) {
        forms.assertSameSite(ctx, await routing.readForm(ctx as never));
        try {
          const { cookies } = await api.send(ctx, { method: 'POST', path: '/auth/logout' });
          passCookies(ctx, cookies);
        } catch (error) {
          // A browser without a session is signed out already.
          if (codeOf(error) !== 'INVALID_CREDENTIALS')
            failWithPage(ctx, error, {
              title: 'Sign out',
              body: html`<p class="lead" role="alert">${problemOf(error).text}</p>${renderSignOutForm(ctx, tools)}`,
            });
        }
        redirectTo(ctx, `${rootOf(ctx)}/admin/login?notice=signed-out`);
      },
    },
  ];
}

import type { HttpContext, Route } from '../../http/contract.ts';
import { html } from '../html.ts';
import type { Page } from '../page.ts';
import { failWithPage } from '../page-failures.ts';
import { passCookies, queryParameterOf, redirectTo, rootOf } from '../page-response.ts';
import type { PageTools } from '../page-tools.ts';
import { codeOf, type PageProblem, problemOf } from '../problems.ts';
import { CODE_PARAMETERS, describePage, describePageForm } from '../route-descriptions.ts';
import { normalizeCode } from './login-credentials.ts';
import { createCodePage } from './login-page.ts';
import { RETRY_CODES } from './login-routes.ts';

/** What the API says of a ticket that is too old, used, or not of this browser. */
const TICKET_CODES: readonly string[] = ['INVALID_TOKEN', 'TOKEN_EXPIRED'];

/**
 * `/admin/login/code`: asks for the code of a user whom a sign-in provider has proven. The browser has the ticket of the sign-in as a
 * cookie, which only the API reads.
 */
export function providerCodeRoutes({ api, forms, providers, routing, sendPage }: PageTools): readonly Route[] {
  const providerOf = (ctx: HttpContext): string => queryParameterOf(ctx, 'provider') ?? '';

  function pageOf(ctx: HttpContext, problem?: PageProblem): Page {
    const action = `${rootOf(ctx)}/admin/login/code?provider=${encodeURIComponent(providerOf(ctx))}`;
    return createCodePage({ root: rootOf(ctx), action, formToken: forms.renderField(ctx), problem });
  }

  function failWithStep(ctx: HttpContext, error: unknown): never {
    const code = codeOf(error);
    if (TICKET_CODES.includes(code) || code === 'ROUTE_NOT_FOUND') failWithPage(ctx, error, createEndPage(rootOf(ctx)));
    const isRetry = code === 'INVALID_OTP' || RETRY_CODES.includes(code);
    const problem = { ...problemOf(error), ...(code === 'INVALID_OTP' ? { field: 'otp' } : {}) };
    failWithPage(ctx, error, isRetry ? pageOf(ctx, problem) : createEndPage(rootOf(ctx), problem.text));
  }

  /** The address that the sign-in was to end at; undefined for none. */
  async function complete(ctx: HttpContext, otp: string): Promise<string | undefined> {
    const path = `/auth/login/${encodeURIComponent(providerOf(ctx))}/otp`;
    const { cookies, body } = await api.send(ctx, { method: 'POST', path, body: { otp: normalizeCode(otp) } });
    passCookies(ctx, cookies);
    return (body as { readonly data: { readonly redirect?: string } }).data.redirect;
  }

  const isKnown = (ctx: HttpContext): boolean =>
    providers.current().some(({ provider, schema }) => provider === providerOf(ctx) && schema === undefined);

  const show: Route = {
    method: 'GET',
    path: '/admin/login/code',
    description: describePage('Asks for the code of a sign-in by a provider.', CODE_PARAMETERS),
    async handle(ctx) {
      if (!isKnown(ctx)) return redirectTo(ctx, `${rootOf(ctx)}/admin/login`);
      await sendPage(ctx, pageOf(ctx));
    },
  };

  const submit: Route = {
    method: 'POST',
    path: '/admin/login/code',
    body: 'unread',
    description: describePageForm('Completes a sign-in by a provider, and leads to where it ends.', CODE_PARAMETERS),
    async handle(ctx) {
      const { otp = '', ...fields } = await routing.readForm(ctx as never);
      forms.assertSameSite(ctx, fields);
      const target = await complete(ctx, otp).catch((error) => failWithStep(ctx, error));
      if (target === undefined) return redirectTo(ctx, `${rootOf(ctx)}/admin`);
      if (new URL(target).host === ctx.req.headers.host) return redirectTo(ctx, target);
      // The policy of the page forbids forms whose redirect leads to another origin.
      ctx.set('Refresh', `0; url=${target}`);
      await sendPage(ctx, createDonePage(target));
    },
  };

  return [show, submit];
}

const createEndPage = (root: string, text = 'This took too long, or the sign-in was completed already.'): Page => ({
  title: 'Please sign in again',
  body: html`<p class="lead" role="alert">${text}</p>
<p class="links"><a href="${root}/admin/login">Go to sign-in</a></p>`,
});

const createDonePage = (target: string): Page => ({
  title: 'You are signed in',
  body: html`<p class="links"><a href="${target}">Continue</a></p>`,
});

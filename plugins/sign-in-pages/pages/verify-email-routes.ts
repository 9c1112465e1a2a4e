import type { HttpContext, Route } from '../../http/contract.ts';
import { renderHidden, renderProblem, renderSubmit } from '../fields.ts';
import { html } from '../html.ts';
import type { Page } from '../page.ts';
import { failWithPage } from '../page-failures.ts';
import { queryParameterOf, redirectTo, rootOf } from '../page-response.ts';
import type { PageTools } from '../page-tools.ts';
import { codeOf, type PageProblem, problemOf } from '../problems.ts';
import { describePage, describePageForm, TOKEN_PARAMETERS } from '../route-descriptions.ts';
import { createDeadEndPage } from './password-pages.ts';

const INVALID_LINK_CODES: readonly string[] = ['INVALID_TOKEN', 'TOKEN_EXPIRED', 'INVALID_CREDENTIALS', 'FORBIDDEN'];

/**
 * `/admin/verify-email`: a button confirms the address. Opening the link confirms nothing, since programs that look for viruses in mails
 * open links too.
 */
export function verifyEmailRoutes({ api, forms, routing, sendPage }: PageTools): readonly Route[] {
  const invalidLinkPage = (ctx: HttpContext) =>
    createDeadEndPage(
      'This link is not valid any more',
      'Links that confirm an address are valid for some days and can be used once. If you confirmed yours already, sign in.',
      html`<a href="${rootOf(ctx)}/admin/login">Go to sign-in</a>`,
    );

  const confirmPage = (ctx: HttpContext, token: string, problem?: PageProblem): Page => ({
    title: 'Confirm your e-mail address',
    lead: 'One more step, and your account is ready.',
    body: html`${renderProblem(problem)}
<form method="post" action="${rootOf(ctx)}/admin/verify-email">
${forms.renderField(ctx)}${renderHidden('token', token)}
${renderSubmit('Confirm the address')}
</form>`,
  });

  return [
    {
      method: 'GET',
      path: '/admin/verify-email',
      description: describePage('Shows a button that confirms an e-mail address.', TOKEN_PARAMETERS),
      async handle(ctx) {
        const token = queryParameterOf(ctx, 'token');
        if (token === undefined) await sendPage(ctx, invalidLinkPage(ctx), 400);
        else await sendPage(ctx, confirmPage(ctx, token));
      },
    },
    {
      method: 'POST',
      path: '/admin/verify-email',
      body: 'unread',
      description: describePageForm('Confirms an e-mail address.'),
      async handle(ctx) {
        const fields = await routing.readForm(ctx as never);
        forms.assertSameSite(ctx, fields);
        const { token = '' } = fields;
        try {
          const path = `/users/register/verify-email?token=${encodeURIComponent(token)}`;
          await api.send(ctx, { method: 'GET', path });
        } catch (error) {
          const isInvalidLink = INVALID_LINK_CODES.includes(codeOf(error));
          failWithPage(ctx, error, isInvalidLink ? invalidLinkPage(ctx) : confirmPage(ctx, token, problemOf(error)));
        }
        redirectTo(ctx, `${rootOf(ctx)}/admin/login?notice=email-verified`);
      },
    },
  ];
}

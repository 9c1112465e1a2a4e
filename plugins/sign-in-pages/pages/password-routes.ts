import { fail } from '#kernel';
import type { HttpContext, Route } from '../../http/contract.ts';
import type { FormFields } from '../form-token.ts';
import { html, type SafeHtml } from '../html.ts';
import { failWithPage } from '../page-failures.ts';
import { queryParameterOf, redirectTo, rootOf } from '../page-response.ts';
import type { PageTools } from '../page-tools.ts';
import { codeOf, type PageProblem, problemOf } from '../problems.ts';
import { describePage, describePageForm, TOKEN_PARAMETERS } from '../route-descriptions.ts';
import {
  createDeadEndPage,
  createLinkSentPage,
  createNewPasswordPage,
  createRequestLinkPage,
  type NewPasswordView,
} from './password-pages.ts';

/** A page on which a new password is chosen by the link of a mail. */
interface NewPasswordPage {
  readonly path: string;
  readonly texts: Pick<NewPasswordView, 'title' | 'lead' | 'submit'>;
  /** The route of the API that takes `{ token, password }`. */
  readonly api: string;
  /** Of the sign-in page, where the person goes on. */
  readonly notice: string;
  /** Codes of the API for a link that is not valid, or was used before. */
  readonly invalidLinkCodes: readonly string[];
  /** What to do with a link that is not valid. */
  readonly next: { readonly text: string; link(root: string): SafeHtml };
}

const INVALID_TOKEN_CODES = ['INVALID_TOKEN', 'TOKEN_EXPIRED', 'INVALID_CREDENTIALS', 'FORBIDDEN'];

const RESET: NewPasswordPage = {
  path: '/admin/reset-password',
  texts: {
    title: 'Choose a new password',
    lead: 'You are signed out everywhere when the new password is saved.',
    submit: 'Save the password',
  },
  api: '/auth/password/reset',
  notice: 'password-changed',
  invalidLinkCodes: INVALID_TOKEN_CODES,
  next: {
    text: 'Links for a new password are valid for one day and can be used once.',
    link: (root) => html`<a href="${root}/admin/reset-password">Ask for a new link</a>`,
  },
};

const INVITATION: NewPasswordPage = {
  path: '/admin/accept-invite',
  texts: { title: 'Welcome', lead: 'Choose a password for your new account.', submit: 'Create the account' },
  api: '/users/invite/accept',
  notice: 'invitation-accepted',
  // A user who has accepted is no longer invited.
  invalidLinkCodes: [...INVALID_TOKEN_CODES, 'INVALID_PAYLOAD'],
  next: {
    text: 'Invitations are valid for some days and can be used once. If you chose your password already, sign in; else ask the person who invited you for a new one.',
    link: (root) => html`<a href="${root}/admin/login">Go to sign-in</a>`,
  },
};

function findPasswordProblem(password: string, again: string): PageProblem | undefined {
  if (password === '') return { text: 'Enter a password.', field: 'password' };
  return password === again ? undefined : { text: 'The two passwords are not the same.', field: 'password_again' };
}

const POLICY_PROBLEM: PageProblem = {
  text: 'This password does not follow the password rule of this project. Choose a longer one, with letters, digits and signs.',
  field: 'password',
};

const createInvalidLinkPage = (ctx: HttpContext, { next }: NewPasswordPage) =>
  createDeadEndPage('This link is not valid any more', next.text, next.link(rootOf(ctx)));

/** What both pages do with the form for a new password. */
function createNewPasswordForm({ api, forms }: PageTools) {
  const newPasswordPage = (ctx: HttpContext, { path, texts }: NewPasswordPage, token: string, problem?: PageProblem) =>
    createNewPasswordPage({
      ...texts,
      action: rootOf(ctx) + path,
      formToken: forms.renderField(ctx),
      token,
      problem,
    });

  async function savePassword(ctx: HttpContext, page: NewPasswordPage, fields: FormFields): Promise<void> {
    const { token = '', password = '', password_again: again = '' } = fields;
    const problem = findPasswordProblem(password, again);
    if (problem) {
      failWithPage(ctx, fail('INVALID_PAYLOAD', problem.text), newPasswordPage(ctx, page, token, problem));
    }
    try {
      await api.send(ctx, { method: 'POST', path: page.api, body: { token, password } });
    } catch (error) {
      const isInvalidLink = page.invalidLinkCodes.includes(codeOf(error));
      const special = { FAILED_VALIDATION: POLICY_PROBLEM };
      failWithPage(
        ctx,
        error,
        isInvalidLink ? createInvalidLinkPage(ctx, page) : newPasswordPage(ctx, page, token, problemOf(error, special)),
      );
    }
    redirectTo(ctx, `${rootOf(ctx)}/admin/login?notice=${page.notice}`);
  }

  return { createPage: newPasswordPage, save: savePassword };
}

/** `/admin/reset-password`. */
export function resetPasswordRoutes(tools: PageTools): readonly Route[] {
  const { api, forms, routing, sendPage } = tools;
  const form = createNewPasswordForm(tools);

  async function requestLink(ctx: HttpContext, { email = '' }: FormFields): Promise<void> {
    try {
      await api.send(ctx, { method: 'POST', path: '/auth/password/request', body: { email } });
    } catch (error) {
      const problem = problemOf(error, {
        INVALID_PAYLOAD: { text: 'This is not an e-mail address.', field: 'email' },
      });
      const view = { root: rootOf(ctx), formToken: forms.renderField(ctx), email, problem };
      failWithPage(ctx, error, createRequestLinkPage(view));
    }
    await sendPage(ctx, createLinkSentPage(rootOf(ctx)));
  }

  return [
    {
      method: 'GET',
      path: RESET.path,
      description: describePage(
        'Asks for an e-mail address or, opened by the link of a mail, for a new password.',
        TOKEN_PARAMETERS,
      ),
      async handle(ctx) {
        const token = queryParameterOf(ctx, 'token');
        const root = rootOf(ctx);
        await sendPage(
          ctx,
          token === undefined
            ? createRequestLinkPage({ root, formToken: forms.renderField(ctx) })
            : form.createPage(ctx, RESET, token),
        );
      },
    },
    {
      method: 'POST',
      path: RESET.path,
      body: 'unread',
      description: describePageForm('Mails a link for a new password, or saves the new password.'),
      async handle(ctx) {
        const fields = await routing.readForm(ctx as never);
        forms.assertSameSite(ctx, fields);
        await (fields.token === undefined ? requestLink(ctx, fields) : form.save(ctx, RESET, fields));
      },
    },
  ];
}

/** `/admin/accept-invite`. */
export function acceptInviteRoutes(tools: PageTools): readonly Route[] {
  const { forms, routing, sendPage } = tools;
  const form = createNewPasswordForm(tools);
  return [
    {
      method: 'GET',
      path: INVITATION.path,
      description: describePage('Asks an invited user for a password.', TOKEN_PARAMETERS),
      async handle(ctx) {
        const token = queryParameterOf(ctx, 'token');
        if (token === undefined) await sendPage(ctx, createInvalidLinkPage(ctx, INVITATION), 400);
        else await sendPage(ctx, form.createPage(ctx, INVITATION, token));
      },
    },
    {
      method: 'POST',
      path: INVITATION.path,
      body: 'unread',
      description: describePageForm('Accepts an invitation with a password.'),
      async handle(ctx) {
        const fields = await routing.readForm(ctx as never);
        forms.assertSameSite(ctx, fields);
        await form.save(ctx, INVITATION, fields);
      },
    },
  ];
}

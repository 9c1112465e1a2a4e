import { renderHidden, renderInput, renderProblem, renderSubmit } from '../fields.ts';
import { html, type SafeHtml } from '../html.ts';
import type { Page } from '../page.ts';
import type { PageProblem } from '../problems.ts';

/** A page on which a password is chosen, by the link of a mail. */
export interface NewPasswordView {
  /** The address of the page, relative to it. */
  readonly action: string;
  readonly formToken: SafeHtml;
  /** The token of the link. */
  readonly token: string;
  readonly title: string;
  readonly lead: string;
  readonly submit: string;
  readonly problem?: PageProblem | undefined;
}

export const createNewPasswordPage = (view: NewPasswordView): Page => ({
  title: view.title,
  lead: view.lead,
  body: html`${renderProblem(view.problem)}
<form method="post" action="${view.action}">
${view.formToken}${renderHidden('token', view.token)}
${renderInput({ id: 'password', label: 'New password', type: 'password', autocomplete: 'new-password', autofocus: true }, view.problem)}
${renderInput({ id: 'password_again', label: 'New password again', type: 'password', autocomplete: 'new-password' }, view.problem)}
${renderSubmit(view.submit)}
</form>`,
});

export interface RequestLinkView {
  readonly root: string;
  readonly formToken: SafeHtml;
  readonly email?: string | undefined;
  readonly problem?: PageProblem | undefined;
}

/** The page that asks for the address to which a link is mailed. */
export const createRequestLinkPage = ({ root, formToken, email, problem }: RequestLinkView): Page => ({
  title: 'Reset your password',
  lead: 'We send a link to your e-mail address. With it you choose a new password.',
  body: html`${renderProblem(problem)}
<form method="post" action="${root}/admin/reset-password">
${formToken}
${renderInput(
  { id: 'email', label: 'E-mail address', type: 'email', value: email, autocomplete: 'username', autofocus: true },
  problem,
)}
${renderSubmit('Send the link')}
</form>
<p class="links"><a href="${root}/admin/login">Back to sign-in</a></p>`,
});

/** The same for every address, so that it does not tell which have an account. */
export const createLinkSentPage = (root: string): Page => ({
  title: 'Check your mail',
  lead: 'If this address has an account, a link is on its way. It is valid for one day.',
  body: html`<p>No mail? Look into the spam folder, and check that you entered the address of your account.</p>
<p class="links"><a href="${root}/admin/reset-password">Try another address</a> · <a href="${root}/admin/login">Back to sign-in</a></p>`,
});

/** A page with a sentence, and a link to what a person can do next. */
export const createDeadEndPage = (title: string, text: string, link: SafeHtml): Page => ({
  title,
  body: html`<p class="lead" role="alert">${text}</p>
<p class="links">${link}</p>`,
});

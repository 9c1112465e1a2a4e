import type { SignInProvider } from '../../auth/contract.ts';
import { renderHidden, renderInput, renderNotice, renderProblem, renderSubmit } from '../fields.ts';
import type { FormFields } from '../form-token.ts';
import { html, type SafeHtml } from '../html.ts';
import type { Page } from '../page.ts';
import type { PageProblem } from '../problems.ts';
import { labelOf, providerFieldsOf } from './provider-fields.ts';
import { renderProviderIcon } from './provider-icons.ts';

/** What a page of the sign-in shows. Addresses are relative to the page. */
export interface LoginView {
  /** The root of the service. */
  readonly root: string;
  /** The path of the service at its public address, which providers send browsers back to; empty for the root of the host. */
  readonly path: string;
  /** Where the sign-in leads; undefined for the start page. */
  readonly target: string | undefined;
  readonly formToken: SafeHtml;
  readonly providers: readonly SignInProvider[];
  /** There is no sign-in by e-mail address and password. */
  readonly isDefaultDisabled: boolean;
  readonly canResetPassword: boolean;
  readonly problem?: PageProblem | undefined;
  readonly notice?: string | undefined;
  /** What was typed before, but for passwords. */
  readonly fields?: FormFields;
}

/** The address of the sign-in page, which leads to the target. */
export const addressOf = ({ root, target }: Pick<LoginView, 'root' | 'target'>): string =>
  `${root}/admin/login${target === undefined ? '' : `?redirect=${encodeURIComponent(target)}`}`;

export function createLoginPage(view: LoginView): Page {
  const { problem, providers, isDefaultDisabled } = view;
  const passkey = providers.find(({ driver }) => driver === 'passkey');
  const others = providers.filter((one) => one !== passkey);
  const hasForm = !isDefaultDisabled;
  const hasOthers = passkey !== undefined || others.length > 0;
  return {
    title: 'Sign in',
    hasPasskeys: passkey !== undefined,
    body: html`${renderProblem(problem)}${renderNotice(view.notice)}
${hasForm && renderPasswordForm(view)}
${hasForm && others.length > 0 && html`<p class="divider">or</p>`}
${hasOthers && renderProviders(view, { passkey, others, isPasskeyAlone: hasForm && others.length === 0 })}
${!hasForm && !hasOthers && html`<p class="lead">There is no way to sign in here. Ask an administrator.</p>`}`,
  };
}

function renderPasswordForm(view: LoginView): SafeHtml {
  const { root, problem, fields = {}, formToken, canResetPassword } = view;
  const email = {
    id: 'email',
    label: 'E-mail address',
    type: 'email',
    autocomplete: 'username',
    autofocus: true,
  } as const;
  const password = { id: 'password', label: 'Password', type: 'password', autocomplete: 'current-password' } as const;
  return html`<form method="post" action="${addressOf(view)}">
${formToken}
${renderInput({ ...email, value: fields.email }, problem)}
${renderInput(password, problem)}
${renderSubmit('Sign in')}
</form>
${canResetPassword && html`<p class="links"><a href="${root}/admin/reset-password">Forgot your password?</a></p>`}`;
}

interface ProviderGroups {
  readonly passkey: SignInProvider | undefined;
  readonly others: readonly SignInProvider[];
  /** The divider above belongs to the passkey alone, which is hidden where the browser has none. */
  readonly isPasskeyAlone: boolean;
}

function renderProviders(view: LoginView, { passkey, others, isPasskeyAlone }: ProviderGroups): SafeHtml {
  const target = view.target ?? `${view.root}/admin`;
  return html`<ul class="providers" aria-label="Other ways to sign in">
${
  passkey &&
  html`<li hidden>${isPasskeyAlone && html`<p class="divider">or</p>`}
<button type="button" data-passkey="${view.root}/auth/login/${encodeURIComponent(passkey.provider)}" data-target="${target}">
${renderProviderIcon('passkey', 'Passkey')} Sign in with a passkey</button>
<p class="field-problem" id="passkey-problem" role="status"></p></li>`
}
${others.map((provider) => html`<li>${provider.schema ? renderProviderForm(view, provider) : renderLink(view, provider)}</li>`)}
</ul>`;
}

/** A provider sends the browser back to the sign-in page, which shows why it failed, or leads to the target. */
function renderLink(view: LoginView, provider: SignInProvider): SafeHtml {
  const redirect = `${view.path}/admin/login${view.target === undefined ? '' : `?redirect=${encodeURIComponent(view.target)}`}`;
  const address = `${view.root}/auth/login/${encodeURIComponent(provider.provider)}?redirect=${encodeURIComponent(redirect)}`;
  const label = labelOf(provider);
  return html`<a class="button" href="${address}">${renderProviderIcon(provider.icon, label)} Sign in with ${label}</a>`;
}

function renderProviderForm(view: LoginView, provider: SignInProvider): SafeHtml {
  const { fields = {}, problem, formToken, isDefaultDisabled, providers } = view;
  const isPosted = fields.provider === provider.provider;
  const isOpen = isPosted || (isDefaultDisabled && providers.length === 1);
  const label = labelOf(provider);
  const inputs = providerFieldsOf(provider, isPosted ? fields : {});
  const form = html`<form method="post" action="${addressOf(view)}">
${formToken}${renderHidden('provider', provider.provider)}
${inputs.map((field) => renderInput(field, isPosted ? problem : undefined))}
${renderSubmit(`Sign in with ${label}`)}
</form>`;
  return html`<details${isOpen && html` open`}>
<summary>${renderProviderIcon(provider.icon, label)} Sign in with ${label}</summary>
${form}
</details>`;
}

export interface CodeView extends Pick<LoginView, 'root' | 'formToken' | 'problem'> {
  /** The address that the form is posted to, relative to the page. */
  readonly action: string;
  /** The credentials of the first step, sealed; undefined where a provider has proven the user. */
  readonly sealed?: string;
}

/** The second step of a sign-in: a one-time code. */
export const createCodePage = ({ problem, formToken, sealed, root, action }: CodeView): Page => ({
  title: 'Enter your code',
  lead: 'Your account is protected by a second step.',
  body: html`${renderProblem(problem)}
<form method="post" action="${action}">
${formToken}${sealed !== undefined && renderHidden('sealed', sealed)}
${renderInput(
  {
    id: 'otp',
    label: 'Code',
    hint: 'From your authenticator app, or one of your recovery codes.',
    autocomplete: 'one-time-code',
    autofocus: true,
    isVerbatim: true,
  },
  problem,
)}
${renderSubmit('Continue')}
</form>
<p class="links"><a href="${root}/admin/login">Sign in as another user</a></p>`,
});

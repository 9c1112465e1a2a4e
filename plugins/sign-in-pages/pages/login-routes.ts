import type { HttpContext, Route } from '../../http/contract.ts';
import type { FormFields } from '../form-token.ts';
import { failWithPage } from '../page-failures.ts';
import { passCookies, queryParameterOf, redirectTo, rootOf } from '../page-response.ts';
import type { PageTools } from '../page-tools.ts';
import { codeOf, type PageProblem, problemOf, sentenceOf } from '../problems.ts';
import { parseRedirectTarget } from '../redirect-target.ts';
import { describePage, describePageForm, LOGIN_PARAMETERS } from '../route-descriptions.ts';
import { createLoginCredentialReader, type LoginCredentials } from './login-credentials.ts';
import { addressOf, createCodePage, createLoginPage, type LoginView } from './login-page.ts';
import { providerFieldsOf } from './provider-fields.ts';

/** Codes after which the same code may be sent again. */
export const RETRY_CODES: readonly string[] = ['REQUESTS_EXCEEDED', 'SERVICE_UNAVAILABLE'];

/** Sealed credentials that cannot be opened are of a page that was open for too long. */
const SPECIAL = { INVALID_TOKEN: { text: 'This took too long. Please sign in again.' } };

const NOTICES: Readonly<Record<string, string>> = {
  'signed-out': 'You are signed out.',
  'password-changed': 'Your password is changed. Sign in with the new one.',
  'invitation-accepted': 'Your account is ready. Sign in with your new password.',
  'email-verified': 'Your e-mail address is confirmed. You can sign in now.',
};

/** `/admin/login`: e-mail address and password, one-time codes, and other providers. */
export function loginRoutes(tools: PageTools): readonly Route[] {
  const { api, forms, identity, path, providers, routing, sendPage } = tools;
  const reader = createLoginCredentialReader(tools);

  const targetOf = (ctx: HttpContext) => parseRedirectTarget(queryParameterOf(ctx, 'redirect'));
  const viewOf = (ctx: HttpContext): LoginView => ({
    root: rootOf(ctx),
    path,
    target: targetOf(ctx),
    formToken: forms.renderField(ctx),
    providers: providers.current(),
    isDefaultDisabled: providers.isDefaultDisabled,
    canResetPassword: api.has('POST', '/auth/password/request'),
  });

  /** Fails with the page of the step at which the person is. */
  function failWithStep(
    ctx: HttpContext,
    error: unknown,
    fields: FormFields,
    credentials: LoginCredentials | undefined,
  ): never {
    const view = viewOf(ctx);
    const code = codeOf(error);
    const otp = fields.otp ?? '';
    const isAtCode = code === 'INVALID_OTP' || (fields.sealed !== undefined && RETRY_CODES.includes(code));
    if (credentials && isAtCode) {
      const sealed = reader.seal(ctx, credentials);
      // The first time no code was asked for, so none was wrong.
      const isWrong = otp !== '' || fields.sealed !== undefined;
      const field = code === 'INVALID_OTP' ? { field: 'otp' } : {};
      const problem = isWrong ? { ...problemOf(error), ...field } : undefined;
      const page = createCodePage({ ...view, action: addressOf(view), sealed, problem });
      failWithPage(ctx, error, page, isWrong ? undefined : 200);
    }
    const field = code === 'INVALID_CREDENTIALS' ? passwordFieldOf(view, credentials) : undefined;
    const problem: PageProblem = { ...problemOf(error, SPECIAL), ...(field === undefined ? {} : { field }) };
    const { email = credentials?.values.email ?? '' } = fields;
    failWithPage(ctx, error, createLoginPage({ ...view, problem, fields: { ...fields, email } }));
  }

  const show: Route = {
    method: 'GET',
    path: '/admin/login',
    description: describePage('Shows the sign-in page, or opens the target of a signed-in browser.', LOGIN_PARAMETERS),
    async handle(ctx) {
      const text = sentenceOf(queryParameterOf(ctx, 'reason'));
      const word = queryParameterOf(ctx, 'notice') ?? '';
      const notice = Object.hasOwn(NOTICES, word) ? NOTICES[word] : undefined;
      if (text === undefined && notice === undefined && (await identity.ofSessionCookie(ctx)))
        return redirectTo(ctx, targetOf(ctx) ?? `${rootOf(ctx)}/admin`);
      const problem = text === undefined ? undefined : { text };
      await sendPage(ctx, createLoginPage({ ...viewOf(ctx), problem, notice }));
    },
  };

  const submit: Route = {
    method: 'POST',
    path: '/admin/login',
    body: 'unread',
    description: describePageForm('Signs in by the form of the page, and redirects to the target.', LOGIN_PARAMETERS),
    async handle(ctx) {
      const fields = await routing.readForm(ctx as never);
      forms.assertSameSite(ctx, fields);
      let credentials: LoginCredentials | undefined;
      try {
        credentials = reader.read(ctx, fields);
        const { cookies } = await reader.signIn(ctx, credentials, fields.otp ?? '');
        passCookies(ctx, cookies);
      } catch (error) {
        failWithStep(ctx, error, fields, credentials);
      }
      redirectTo(ctx, targetOf(ctx) ?? `${rootOf(ctx)}/admin`);
    },
  };

  return [show, submit];
}

/** The id of the field for the password of the form that was posted. */
function passwordFieldOf({ providers }: LoginView, credentials: LoginCredentials | undefined): string | undefined {
  const provider = providers.find((one) => one.provider === credentials?.provider);
  if (!provider) return 'password';
  return providerFieldsOf(provider, {}).find(({ type }) => type === 'password')?.id;
}

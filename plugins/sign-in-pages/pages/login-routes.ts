import type { HttpContext, InternalReply, Route } from '../../http/contract.ts';
import type { FormFields } from '../form-token.ts';
import { failWithPage } from '../page-failures.ts';
import { passCookies, queryParameterOf, redirectTo, rootOf } from '../page-response.ts';
import type { PageTools } from '../page-tools.ts';
import { codeOf, type PageProblem, problemOf, sentenceOf } from '../problems.ts';
import { parseRedirectTarget } from '../redirect-target.ts';
import { describePage, describePageForm, LOGIN_PARAMETERS } from '../route-descriptions.ts';
import { createCodePage, createLoginPage, type LoginView } from './login-page.ts';
import { providerFieldsOf, readCredentials } from './provider-fields.ts';

/** Milliseconds between password and one-time code. */
const CODE_LIFETIME = 300_000;
const PURPOSE = 'second step of a sign-in';

const NOTICES: Readonly<Record<string, string>> = {
  'signed-out': 'You are signed out.',
  'password-changed': 'Your password is changed. Sign in with the new one.',
  'invitation-accepted': 'Your account is ready. Sign in with your new password.',
  'email-verified': 'Your e-mail address is confirmed. You can sign in now.',
};

/** A posted sign-in: the route of the API that decides it, and what that route takes. */
interface Credentials {
  /** `''` for e-mail address and password. */
  readonly provider: string;
  readonly values: Readonly<Record<string, string>>;
}

/** `/admin/login`: e-mail address and password, one-time codes, and other providers. */
export function loginRoutes(tools: PageTools): readonly Route[] {
  const { api, forms, identity, providers, routing, sealed, sendPage } = tools;

  const targetOf = (ctx: HttpContext) => parseRedirectTarget(queryParameterOf(ctx, 'redirect'));
  const viewOf = (ctx: HttpContext): LoginView => ({
    root: rootOf(ctx),
    target: targetOf(ctx),
    formToken: forms.renderField(ctx),
    providers: providers.current(),
    isDefaultDisabled: providers.isDefaultDisabled,
    canResetPassword: api.has('POST', '/auth/password/request'),
  });

  /** @throws INVALID_TOKEN, TOKEN_EXPIRED for sealed credentials of another browser or too long ago. */
  function credentialsOf(ctx: HttpContext, fields: FormFields): Credentials {
    if (fields.sealed !== undefined) return sealed.open(PURPOSE, forms.tokenOf(ctx), fields.sealed) as Credentials;
    const provider = providers.current().find((one) => one.provider === fields.provider && one.schema !== undefined);
    if (provider) return { provider: provider.provider, values: readCredentials(provider, fields) };
    const { email = '', password = '' } = fields;
    return { provider: fields.provider ?? '', values: { email, password } };
  }

  function signIn(ctx: HttpContext, { provider, values }: Credentials, otp: string): Promise<InternalReply> {
    const path = provider === '' ? '/auth/login' : `/auth/login/${encodeURIComponent(provider)}`;
    return api.send(ctx, { method: 'POST', path, body: { ...values, mode: 'cookie', ...(otp === '' ? {} : { otp }) } });
  }

  /** Fails with the page of the step at which the person is. */
  function failWithStep(
    ctx: HttpContext,
    error: unknown,
    fields: FormFields,
    credentials: Credentials | undefined,
  ): never {
    const view = viewOf(ctx);
    const code = codeOf(error);
    const otp = fields.otp ?? '';
    const isAtCode = code === 'INVALID_OTP' || (fields.sealed !== undefined && code === 'REQUESTS_EXCEEDED');
    if (credentials && isAtCode) {
      const again = sealed.seal(PURPOSE, forms.tokenOf(ctx), credentials, CODE_LIFETIME);
      // The first time no code was asked for, so none was wrong.
      const isWrong = otp !== '' || fields.sealed !== undefined;
      const problem = isWrong ? { ...problemOf(error), field: 'otp' } : undefined;
      failWithPage(ctx, error, createCodePage({ ...view, sealed: again, problem }), isWrong ? undefined : 200);
    }
    const field = code === 'INVALID_CREDENTIALS' ? passwordFieldOf(view, credentials) : undefined;
    const problem: PageProblem = { ...problemOf(error), ...(field === undefined ? {} : { field }) };
    const { email = credentials?.values.email ?? '' } = fields;
    failWithPage(ctx, error, createLoginPage({ ...view, problem, fields: { ...fields, email } }));
  }

  const show: Route = {
    method: 'GET',
    path: '/admin/login',
    description: describePage(
      'Shows the sign-in page, or opens the target where the browser is signed in.',
      LOGIN_PARAMETERS,
    ),
    async handle(ctx) {
      const reason = queryParameterOf(ctx, 'reason');
      if (reason === undefined && (await identity.ofSessionCookie(ctx)))
        return redirectTo(ctx, targetOf(ctx) ?? `${rootOf(ctx)}/admin`);
      const text = sentenceOf(reason);
      const notice = queryParameterOf(ctx, 'notice') ?? '';
      const page = createLoginPage({
        ...viewOf(ctx),
        problem: text === undefined ? undefined : { text },
        notice: Object.hasOwn(NOTICES, notice) ? NOTICES[notice] : undefined,
      });
      await sendPage(ctx, page);
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
      let credentials: Credentials | undefined;
      try {
        credentials = credentialsOf(ctx, fields);
        const { cookies } = await signIn(ctx, credentials, normalizeCode(fields.otp ?? ''));
        passCookies(ctx, cookies);
      } catch (error) {
        failWithStep(ctx, error, fields, credentials);
      }
      redirectTo(ctx, targetOf(ctx) ?? `${rootOf(ctx)}/admin`);
    },
  };

  return [show, submit];
}

/** Apps show codes in groups; recovery codes keep their form. */
const normalizeCode = (code: string): string => (/^[\d\s]+$/.test(code) ? code.replaceAll(/\s/g, '') : code.trim());

/** The id of the field for the password of the form that was posted. */
function passwordFieldOf({ providers }: LoginView, credentials: Credentials | undefined): string | undefined {
  const provider = providers.find((one) => one.provider === credentials?.provider);
  if (!provider) return 'password';
  return providerFieldsOf(provider, {}).find(({ type }) => type === 'password')?.id;
}

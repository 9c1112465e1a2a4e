import type { HttpContext, InternalReply } from '../../http/contract.ts';
import type { FormFields } from '../form-token.ts';
import type { PageTools } from '../page-tools.ts';
import { readCredentials } from './provider-fields.ts';

/** Milliseconds between password and one-time code. */
const CODE_LIFETIME = 300_000;
const PURPOSE = 'second step of a sign-in';

/** A posted sign-in: the route of the API that decides it, and what that route takes. */
export interface LoginCredentials {
  /** Empty for e-mail address and password. */
  readonly provider: string;
  readonly values: Readonly<Record<string, string>>;
}

export interface LoginCredentialReader {
  /** @throws INVALID_TOKEN, TOKEN_EXPIRED for sealed credentials of another browser or too long ago. */
  read(ctx: HttpContext, fields: FormFields): LoginCredentials;
  /** The credentials for the form of the second step, which the same browser can send back. */
  seal(ctx: HttpContext, credentials: LoginCredentials): string;
  /** Signs in by the API. @throws what the route throws. */
  signIn(ctx: HttpContext, credentials: LoginCredentials, otp: string): Promise<InternalReply>;
}

export const createLoginCredentialReader = ({
  api,
  forms,
  providers,
  sealed,
}: Pick<PageTools, 'api' | 'forms' | 'providers' | 'sealed'>): LoginCredentialReader => ({
  read(ctx, fields) {
    if (fields.sealed !== undefined) return sealed.open(PURPOSE, forms.tokenOf(ctx), fields.sealed) as LoginCredentials;
    const provider = providers.current().find((one) => one.provider === fields.provider && one.schema !== undefined);
    if (provider) return { provider: provider.provider, values: readCredentials(provider, fields) };
    const { email = '', password = '' } = fields;
    return { provider: fields.provider ?? '', values: { email, password } };
  },

  seal: (ctx, credentials) => sealed.seal(PURPOSE, forms.tokenOf(ctx), credentials, CODE_LIFETIME),

  signIn(ctx, { provider, values }, otp) {
    const path = provider === '' ? '/auth/login' : `/auth/login/${encodeURIComponent(provider)}`;
    const code = normalizeCode(otp);
    const body = { ...values, mode: 'cookie', ...(code === '' ? {} : { otp: code }) };
    return api.send(ctx, { method: 'POST', path, body });
  },
});

/** Apps show codes in groups; recovery codes keep their form. */
export const normalizeCode = (code: string): string =>
  /^[\d\s]+$/.test(code) ? code.replaceAll(/\s/g, '') : code.trim();
